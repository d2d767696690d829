/** The page of an organization's audit log. */
import { expect, test } from "bun:test";
import { insertAuditEntry } from "../../../../sql/accounts/audit_log.ts";
import { openPage } from "../../../helpers/pages/forms.ts";
import { HOSTILE, openPageScene, readPage } from "../../../helpers/pages/page_scene.ts";

test("audit entries are paginated, newest first, and client input is escaped", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  for (let number = 1; number <= 51; number += 1) {
    await insertAuditEntry(api.db.sql, {
      ...{ actorType: "user", actorUserId: owner.user.id, orgId: org.id, userAgent: HOSTILE },
      ...{
        action: "thing.change",
        subject: { type: "thing", id: `thing-${number}` },
        details: { note: HOSTILE },
      },
    });
  }
  const path = `/orgs/${org.slug}/audit`;
  const first = await readPage(api, path, owner.token);
  expect(first).toContain("thing-51<");
  expect(first).not.toContain("thing-1<");
  expect(first).toContain(owner.user.username);
  const [, older = ""] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
  const second = await readPage(api, older, owner.token);
  expect(second).toContain("thing-1<");
  expect(second).not.toContain("thing-2<");
  expect(second).toContain(`href="${path}">Newest`);
  expect(second).not.toContain(`rel="next"`);
});

test("an invalid cursor is refused with the API's message", async () => {
  await using scene = await openPageScene();
  const response = await openPage(scene.api, `/orgs/${scene.org.slug}/audit?cursor=x`, scene.owner.token);
  expect([response.status, (await response.text()).includes("cursor must be the nextCursor")]).toEqual([
    400,
    true,
  ]);
});
