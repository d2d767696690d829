/** The export pages without a browser: access, forms and filters. */
import { describe, expect, test } from "bun:test";
import type { OrgRole, SubscriptionTier } from "../../../../shared/vocabulary.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../helpers/pages/forms.ts";

const HOSTILE = `"><script>alert(1)</script>`;
const HOME = "/dashboard/exports";

interface StoredJob {
  id: string;
  status: string;
  format: string;
  includeDeleted: boolean;
  asOf: string;
}

async function openMember(api: TestApp, role: OrgRole = "publisher", tier: SubscriptionTier = "pro") {
  const { user, org } = await api.make.person({ role, tier });
  const { token } = await api.make.session({ userId: user.id });
  const listJobs = () => api.db.sql<StoredJob[]>`
    select id, status, format, include_deleted, as_of from export_jobs where org_id = ${org.id} order by number`;
  return { user, org, token, listJobs };
}

describe("/dashboard/exports", () => {
  test("starts an export, shows it, cancels it and offers to start it again, all without a script", async () => {
    await using api = await openTestApp();
    const { token, listJobs } = await openMember(api);
    expect(await (await openPage(api, HOME, token)).text()).toContain("No exports yet.");
    const started = await sendForm(api, HOME, { format: "csv", include_deleted: "true" }, { token });
    const [job] = await listJobs();
    const target = `${HOME}?job=${job?.id}&as=started#job-${job?.id}`;
    expect([started.status, started.headers.get("location")]).toEqual([303, target]);
    expect(job).toMatchObject({ status: "queued", format: "csv", includeDeleted: true });
    const page = await (await openPage(api, HOME, token)).text();
    expect(page).toContain("Waiting in queue.");
    expect(page).toContain("With deleted issues; without resolved issues");
    await api.db.sql`
      update export_jobs
      set waiting_for = 'storage', retry_at = now() + interval '5 minutes'
      where id = ${job?.id ?? ""}`;
    const waiting = await (await openPage(api, HOME, token)).text();
    expect(waiting).toMatch(/cannot be stored now\. The next attempt begins <time [^>]*>in 5 minutes</);
    const again = await sendForm(api, HOME, { format: "csv", include_deleted: "true" }, { token });
    expect(again.headers.get("location")).toContain("&as=running");
    const path = `${HOME}/jobs/${job?.id}/cancel`;
    expect((await sendForm(api, path, { force: "false" }, { token })).status).toBe(303);
    expect((await listJobs())[0]?.status).toBe("failed");
    const canceled = await (await openPage(api, HOME, token)).text();
    expect(canceled).toContain('Start again <span class="visually-hidden">as export #1</span></button>');
    expect(canceled).not.toContain("changes since");
    const refused = await sendForm(api, path, { force: "false" }, { token });
    expect(refused.headers.get("location")).toContain("&as=refused");
    // If the session ended before a form was sent, the user signs in and then returns to the form's address with GET.
    const back = await openPage(api, path, token);
    expect([back.status, back.headers.get("location")]).toEqual([303, target.replace("started", "link")]);
    for (const as of ["__proto__", "constructor", HOSTILE]) {
      const pointed = await openPage(api, `${HOME}?job=${job?.id}&as=${encodeURIComponent(as)}`, token);
      expect([as, pointed.status, (await pointed.text()).includes('data-part="note"')]).toEqual([
        as,
        200,
        false,
      ]);
    }
  });

  test("shows the start time of an increment before the increment is exported", async () => {
    await using api = await openTestApp();
    const { token, listJobs } = await openMember(api);
    await sendForm(api, HOME, { format: "csv", as_of: "2026-02-03T10:20:30" }, { token });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await api.db.sql`
      update export_jobs
      set status = 'ready', started_at = now(), ready_at = now(), finished_at = now(), expires_at = ${expiresAt},
        artifact_key = 'a', artifact_file_name = 'a.zip', artifact_bytes = 1, artifact_sha256 = ${"0".repeat(64)}`;
    const page = await (await openPage(api, HOME, token)).text();
    expect(page).toMatch(
      /Export changes since <time datetime="2026-02-03T10:20:30\.000Z"[^>]*>2026-02-03 10:20 UTC<\/time> <span/,
    );
    expect(page).toContain('name="since" value="2026-02-03T10:20:30.000Z"');
    expect((await listJobs()).length).toBe(1);
  });
});

describe("the form of /dashboard/exports", () => {
  test("reports how the active export differs from the requested export, in the form's words", async () => {
    await using api = await openTestApp();
    const { token, listJobs } = await openMember(api);
    await sendForm(api, HOME, { format: "csv", include_deleted: "true" }, { token });
    const other = await sendForm(api, HOME, { format: "parquet" }, { token });
    const page = await other.text();
    const [job] = await listJobs();
    expect([other.status, page.match(/id="start-problem"[^>]*>([^<]*)</)?.[1]]).toEqual([
      200,
      expect.stringContaining("format is csv, not parquet; “Deleted issues” is true, not false."),
    ]);
    expect(page).toMatch(/name="format" value="parquet" checked/);
    expect(page).toContain(`id="job-${job?.id}"`);
    expect(await listJobs()).toHaveLength(1);
  });

  test("shows errors of the API and keeps the input", async () => {
    await using api = await openTestApp();
    const { token, listJobs } = await openMember(api);
    const fields = { format: "parquet", as_of: "2999-01-01T10:00", include_archived: "true" };
    const response = await sendForm(api, HOME, fields, { token });
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toContain("“As of” must not be in the future.");
    expect(page).toMatch(/value="2999-01-01T10:00" aria-invalid="true" autofocus/);
    expect(page).toMatch(/name="format" value="parquet" checked/);
    expect(page).toMatch(/name="include_archived" value="true" checked/);
    const wrong = await sendForm(api, HOME, { format: HOSTILE, as_of: HOSTILE }, { token });
    expect([wrong.status, (await wrong.text()).includes("<script>alert")]).toEqual([400, false]);
    expect(await listJobs()).toHaveLength(0);
  });

  test("reads times in the browser's time zone", async () => {
    await using api = await openTestApp();
    const { token, listJobs } = await openMember(api);
    const fields = { format: "csv", as_of: "2026-02-03T10:20:30", as_of_offset: "-120" };
    await sendForm(api, HOME, fields, { token });
    expect((await listJobs())[0]?.asOf).toBe("2026-02-03T08:20:30.000Z");
  });

  test("estimates an export before it starts", async () => {
    await using api = await openTestApp();
    const { token, org, user, listJobs } = await openMember(api);
    const project = await api.make.project({ orgId: org.id, ownerId: user.id, name: HOSTILE });
    await api.make.issue({ projectId: project.id, createdAt: "2026-01-01T00:00:00.000Z" });
    const fields = { format: "ndjson", include_resolved: "true", action: "estimate" };
    const page = await (await sendForm(api, HOME, fields, { token })).text();
    expect(page).toMatch(/1 project, 1 row, about \d+ bytes before compression\./);
    expect(page).not.toContain("<script>alert");
    expect(await listJobs()).toHaveLength(0);
    const estimate = async (as_of: string) => {
      const response = await sendForm(api, HOME, { ...fields, as_of, as_of_offset: "-120" }, { token });
      return { status: response.status, text: await response.text() };
    };
    expect((await estimate("2026-01-01T01:59:59")).text).toContain("1 project, 0 rows, ");
    expect((await estimate("2026-01-01T02:00:01")).text).toContain("1 project, 1 row, ");
    // An estimate reports the same errors as the start of the export.
    for (const time of ["2999-01-01T10:00", HOSTILE]) {
      const { status, text } = await estimate(time);
      expect([status, text.includes('id="estimate"')]).toEqual([400, false]);
      expect(text).toMatch(/id="start-problem"[^>]*>“As of” must not be in the future\.</);
      expect(text).toMatch(/name="as_of" [^>]* aria-invalid="true" autofocus/);
    }
  });
});

describe("the access rules of /dashboard/exports", () => {
  test("hide other organizations' exports and their existence", async () => {
    await using api = await openTestApp();
    const stranger = await openMember(api);
    const member = await openMember(api);
    await sendForm(api, HOME, { format: "csv" }, { token: stranger.token });
    const [theirs] = await stranger.listJobs();
    const read = async (id: string) => {
      const page = await (await openPage(api, `${HOME}?job=${id}`, member.token)).text();
      return page.replaceAll(id, "ID");
    };
    const seen = await read(theirs?.id ?? "");
    expect(seen).toContain("This export does not exist");
    expect(await read(crypto.randomUUID())).toBe(seen);
    for (const id of [theirs?.id, crypto.randomUUID()]) {
      const path = `${HOME}/jobs/${id}/cancel`;
      const refused = await sendForm(api, path, {}, { token: member.token });
      expect(refused.headers.get("location") ?? refused.status).toBe(404);
    }
    expect((await stranger.listJobs())[0]?.status).toBe("queued");
    const foreign = await (await openPage(api, `${HOME}?org=${stranger.org.slug}`, member.token)).text();
    expect(foreign).toContain("The organization in this address does not exist, or you are not a member.");
    expect(foreign).not.toContain(stranger.org.name);
    const list = await openPage(api, `${HOME}/jobs?organization=${stranger.org.slug}`, member.token);
    expect(list.status).toBe(404);
  });

  test("explain to viewers and members of free organizations what they need", async () => {
    await using api = await openTestApp();
    const viewer = await openMember(api, "viewer");
    const page = await (await openPage(api, HOME, viewer.token)).text();
    expect(page).toContain("You need the publisher role to export this organization. Your role: viewer.");
    expect(page).toContain(`An owner or admin of ${viewer.org.name} can change it.`);
    expect(page).not.toContain("Start export");
    const free = await openMember(api, "publisher", "free");
    const other = await (await openPage(api, HOME, free.token)).text();
    expect(other).toContain("Exports require a paid subscription.");
    expect(other).toContain("Downloads require a paid subscription.");
    expect(other).toContain("is on the free tier. Your operator can change it.");
  });

  test("redirect a visitor without a session to the sign-in page", async () => {
    await using api = await openTestApp();
    const response = await openPage(api, `${HOME}?job=x`);
    const signIn = "/dashboard/sign-in?next=%2Fdashboard%2Fexports%3Fjob%3Dx";
    expect([response.status, response.headers.get("location")]).toEqual([303, signIn]);
  });
});

describe("/dashboard/exports/projects/{project}", () => {
  test("links to downloads, and redirects a filter form to the filtered file", async () => {
    await using api = await openTestApp();
    const { token, org, user } = await openMember(api);
    const project = await api.make.project({ orgId: org.id, ownerId: user.id, name: HOSTILE });
    await api.make.issue({ projectId: project.id, createdAt: "2026-01-01T00:00:00.000Z" });
    const path = `${HOME}/projects/${project.id}`;
    const page = await (await openPage(api, path, token)).text();
    expect(page).toContain(`href="/api/v1/export/projects/${project.id}/issues?format=csv" download`);
    expect(page).toContain("1 row, about");
    expect(page).not.toContain("<script>alert");
    const query = "severity=high&severity=low&status=open&since=&created_from=2026-01-01T00:00&format=csv";
    const file = await openPage(api, `${path}/file?dataset=issues&${query}`, token);
    const to = new URL(file.headers.get("location") ?? "", "http://localhost");
    expect([file.status, to.pathname]).toEqual([303, `/api/v1/export/projects/${project.id}/issues`]);
    expect([...to.searchParams]).toEqual([
      ["severity", "high"],
      ["severity", "low"],
      ["status", "open"],
      ["created_from", "2026-01-01T00:00:00Z"],
      ["format", "csv"],
    ]);
    const wrong = `dataset=issues&status=${encodeURIComponent(HOSTILE)}`;
    const refused = await openPage(api, `${path}/file?${wrong}`, token);
    const text = await refused.text();
    expect([refused.status, text.includes("must be one of open")]).toEqual([400, true]);
    expect(text).not.toContain("<script>alert");
    const crossed = "dataset=issues&created_from=2026-02-01T00:00&created_to=2026-01-01T00:00";
    // The message contains the form's labels instead of the parameter names.
    expect(await (await openPage(api, `${path}/file?${crossed}`, token)).text()).toContain(
      "Check the form: created before must be later than created from.",
    );
  });

  test("is found by slug, and its form shows what each filter includes by default", async () => {
    await using api = await openTestApp();
    const { token, org, user } = await openMember(api);
    const project = await api.make.project({ orgId: org.id, ownerId: user.id, name: "Shop", slug: "shop" });
    const path = `${HOME}/projects/shop`;
    const page = await (await openPage(api, path, token)).text();
    expect(page).toContain("<h1>Shop</h1>");
    expect(page).toMatch(
      /name="include_deleted"><option value="true">Include<\/option><option value="" selected>Leave out</,
    );
    expect(page).toMatch(
      /name="include_resolved"><option value="" selected>Include<\/option><option value="false">Leave out</,
    );
    const file = `${path}/file?dataset=issues&include_resolved=false`;
    const to = (await openPage(api, file, token)).headers.get("location");
    expect(to).toBe(`/api/v1/export/projects/${project.id}/issues?include_resolved=false`);
    const refused = await openPage(api, `${file}&include_deleted=true&status=none`, token);
    expect(await refused.text()).toMatch(
      /id="issues-include_deleted" name="include_deleted"><option value="true" selected>Include.*id="issues-include_resolved" name="include_resolved"><option value="">Include<\/option><option value="false" selected>/s,
    );
  });

  test("is shown even if another of the user's organizations requires a second factor", async () => {
    await using api = await openTestApp();
    const { token, org: closed, user } = await openMember(api);
    const open = await api.make.org({ name: "Open" });
    await api.make.member({ orgId: open.id, userId: user.id, role: "publisher" });
    const make = (org: { id: string }, slug: string) =>
      api.make.project({ orgId: org.id, ownerId: user.id, name: slug, slug });
    await make(open, "shop");
    await make(closed, "secret");
    await api.db.sql`update organizations set require_second_factor = true where id = ${closed.id}`;
    const statusOf = async (name: string) =>
      (await openPage(api, `${HOME}/projects/${name}`, token, closed.slug)).status;
    expect([await statusOf("shop"), await statusOf("secret")]).toEqual([200, 403]);
  });

  test("returns 404 to members of other organizations, as for a missing project", async () => {
    await using api = await openTestApp();
    const owner = await openMember(api);
    const stranger = await openMember(api);
    const { org, user } = owner;
    const project = await api.make.project({ orgId: org.id, ownerId: user.id, name: "Secret", slug: "mine" });
    for (const id of [project.id, "mine", crypto.randomUUID(), "x"]) {
      for (const { slug } of [org, stranger.org]) {
        const response = await openPage(api, `${HOME}/projects/${id}`, stranger.token, slug);
        expect([response.status, (await response.text()).includes("Secret")]).toEqual([404, false]);
      }
    }
  });
});
