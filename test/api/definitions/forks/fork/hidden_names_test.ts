/** Forks with references to lines that the fork's author cannot see. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  definitionOf,
  publishAgent,
} from "../../../../helpers/definitions/definitions.ts";
import { makeFork } from "../../../../helpers/definitions/forks.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

test("a fork qualifies a reference to a hidden line with the fork's organization, without revealing the line's owner", async () => {
  await using api = await openTestApp();
  const ann = await api.make.person();
  const team = await api.make.org();
  const bob = await api.make.person({ org: team });
  await api.make.member({ orgId: team.id, userId: ann.user.id, role: "owner" });
  await publishAgent(api, { key: ann.key, org: ann.org }, { name: "helper" });
  const yaml = agentNeeding("reviewer", ["helper"]);
  await publishAgent(api, { key: ann.key, org: team }, { name: "reviewer", yaml });
  const { definition } = await makeFork(api, { key: bob.key, org: team }, `/agent/@${team.slug}/reviewer`, {
    name: "copy",
  });
  const fork = await definitionOf(await ask(api, `/agent/${definition.id}`, { key: bob.key, org: team }));
  expect(fork.yaml).toContain(`@${team.slug}/helper`);
  expect(fork.yaml).not.toContain(ann.org.slug);
});
