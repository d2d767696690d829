import { expect, test } from "bun:test";
import { insertAuditEntry } from "../../../../sql/accounts/audit_log.ts";
import { runCommand, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("audit list filters by organization, actor and time, newest first", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person();
  const add = (subjectId: string, more: object = {}) =>
    insertAuditEntry(api.db.sql, {
      ...{ actorType: "user", action: "thing.do", subject: { type: "thing", id: subjectId } },
      ...more,
    });
  await add("1", { orgId: org.id });
  await add("2", { actorUserId: user.id, address: "192.0.2.7", userAgent: "curl", details: { from: null } });
  await add("3", { orgId: org.id, actorUserId: user.id });
  const list = async (...flags: string[]) => {
    const { entries } = await runJson<{ entries: { subjectId: string }[] }>(api.db.url, [
      ...["audit", "list"],
      ...flags,
    ]);
    return entries;
  };
  const idsOf = async (...flags: string[]) => (await list(...flags)).map(({ subjectId }) => subjectId);
  expect(await idsOf()).toEqual(["3", "2", "1"]);
  expect(await idsOf("--org", org.slug)).toEqual(["3", "1"]);
  expect(await idsOf("--actor", user.username)).toEqual(["3", "2"]);
  expect(await idsOf("--org", org.slug, "--actor", user.username)).toEqual(["3"]);
  expect(await idsOf("--limit", "1")).toEqual(["3"]);
  expect(await idsOf("--since", "2999-01-01")).toEqual([]);
  expect(await idsOf("--since", "2020-01-01T00:00:00Z")).toHaveLength(3);
  expect((await list("--actor", user.username))[1]).toEqual({
    ...{ id: expect.any(Number), occurredAt: expect.any(String), actorType: "user", actorUserId: user.id },
    ...{ actorUsername: user.username, credentialId: null, action: "thing.do", subjectType: "thing" },
    ...{ subjectId: "2", organizationId: null, requestId: null, clientRequestId: null, address: "192.0.2.7" },
    ...{ userAgent: "curl", details: { from: null } },
  });
  const limited = await runCommand(api.db.url, ["audit", "list", "--limit", "2"]);
  expect(limited.out.split("\n")[2]).toContain("192.0.2.7");
  expect(limited.err).toContain("Only the newest 2 entries are listed");
  expect(await runCommand(api.db.url, ["audit", "list", "--limit", "3"])).toMatchObject({ err: "" });
});

test.each([
  [["--limit", "0"], "--limit must be"],
  [["--since", "yesterday"], "--since must be ISO 8601"],
])("audit list %p is refused as a usage error", async (flags, message) => {
  await using api = await openTestApp();
  const { exitCode, err } = await runCommand(api.db.url, ["audit", "list", ...flags]);
  expect([exitCode, err]).toEqual([2, expect.stringContaining(message)]);
});
