/** What pages may call in the API of the same process. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

test("no name in a page's address leads its call to another path", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person({ role: "publisher", tier: "pro" });
  const project = await api.make.project({ orgId: org.id, ownerId: user.id });
  const { token } = await api.make.session({ userId: user.id });
  const names = [
    "../auth/me",
    "./x",
    "x/..",
    "../../../health/ready",
    `../export/projects/${project.id}/issues`,
  ];
  for (const name of names) {
    const path = `/models/compare?model=${encodeURIComponent(name)}`;
    for (const session of [undefined, token]) {
      expect([name, (await openPage(api, path, session)).status]).toEqual([name, 404]);
    }
  }
});
