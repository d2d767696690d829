/** Fills the exports page: a job in every state except queued, long names, and enough projects for the filter. */
import type { Dashboard, Member } from "./dashboard.ts";

/** Creates an organization that fills the exports page, and returns a member of it. */
export async function makeBusyPlace(dashboard: Dashboard): Promise<Member> {
  const member = await dashboard.member();
  const { org, user } = member;
  for (let count = 0; count < 9; count += 1) {
    const name = count === 0 ? "An_unbreakable_name_".repeat(8) : `Project ${count}`;
    await dashboard.make.project({ orgId: org.id, ownerId: user.id, name });
  }
  await makeJobs(dashboard, member);
  return member;
}

/** Adds a job in every state except queued to the member's organization. */
export async function makeJobs(dashboard: Dashboard, member: Member): Promise<void> {
  const at = "2026-02-01T10:00:00.000Z";
  const built = {
    startedAt: at,
    readyAt: at,
    finishedAt: at,
    expiresAt: "2999-01-01T00:00:00.000Z",
    attempt: 1,
    projectsTotal: 9,
    projectsDone: 9,
    rowsWritten: 1_234_567,
    bytesWritten: 98_765_432,
    artifactKey: "k",
    artifactFileName: "f.zip",
    artifactBytes: 98_765_432,
    artifactSha256: "a".repeat(64),
  };
  const failed = { status: "failed", finishedAt: at, errorMessage: "It failed" };
  const everything = {
    includeDeleted: true,
    includeArchived: true,
    includeSuperseded: true,
    includeResolved: false,
  };
  await dashboard.job(member, { ...built, status: "ready" });
  await dashboard.job(member, { ...built, status: "expired" });
  await dashboard.job(member, { ...failed, errorCode: "ARTIFACT_STORAGE_FAILED", ...everything });
  await dashboard.job(member, { ...failed, errorCode: "CANCELED" });
  await dashboard.job(member, {
    status: "running",
    startedAt: at,
    attempt: 1,
    projectsTotal: 9,
    projectsDone: 2,
  });
}
