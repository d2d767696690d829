import { expect, test } from "bun:test";
import { ask, type Caller, publishAgent, write } from "../../../../helpers/definitions/definitions.ts";
import { dataOf, type Forked, makeFork } from "../../../../helpers/definitions/forks.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

test("a list of forks contains those that the caller can find, newest first, and the total counts all forks", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const reader = await api.make.person();
  const source = await publishAgent(api, author, { name: "reviewer", visibility: "public" });
  const made = new Map<string, Forked>();
  for (const visibility of ["private", "unlisted", "public"]) {
    for (const state of ["draft", "published"]) {
      const name = `${state}-${visibility}`;
      made.set(name, await makeFork(api, reader, "/agent/reviewer", { name, visibility }));
      if (state === "published") await write(api, `/agent/${name}@1.0.0/publish`, reader);
    }
  }
  const listed = async (caller: Caller | null) => {
    const data = await dataOf(await ask(api, "/agent/reviewer/forks", caller));
    expect(Object.keys(data)).toEqual(["forks", "totalForks"]);
    const forks = data["forks"] as { fork: unknown; definition: Record<string, unknown> }[];
    return { forks, names: forks.map(({ definition }) => definition["name"]), total: data["totalForks"] };
  };
  const anonymous = await listed(null);
  expect([anonymous.names, anonymous.total]).toEqual([["published-public"], 6]);
  const shown = made.get("published-public");
  expect(anonymous.forks).toStrictEqual([
    {
      fork: shown?.fork,
      definition: {
        id: shown?.definition.id,
        type: "agent",
        name: "published-public",
        version: "1.0.0",
        authorId: reader.user.id,
        orgId: reader.org.id,
        displayName: "Reviewer",
      },
    },
  ]);
  expect(shown?.fork["sourceDefinitionId"]).toBe(source.id);
  expect((await listed(author)).names).toEqual(["published-public"]);
  const own = await listed({ key: reader.key });
  expect([own.names, own.total]).toEqual([[...made.keys()].reverse(), 6]);
});

test("a fork whose first version is hidden is listed with its highest visible version", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const reader = await api.make.person();
  await publishAgent(api, author, { name: "reviewer", visibility: "public" });
  const made = await makeFork(api, reader, "/agent/reviewer", { name: "mine", visibility: "public" });
  for (const version of ["1.9.0", "1.10.0"]) {
    await publishAgent(api, reader, { name: "mine", version, visibility: "public" });
  }
  const { forks } = await dataOf(await ask(api, "/agent/reviewer/forks", null));
  expect(forks).toMatchObject([
    { fork: { definitionId: made.definition.id }, definition: { version: "1.10.0" } },
  ]);
});
