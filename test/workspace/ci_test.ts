/** The scripts in docs/ci.md work as the page says. */
import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentNeeding, agentYaml, createAgent, publishAgent } from "../helpers/definitions/definitions.ts";
import { type ListeningApp, openListeningApp } from "../helpers/http/listening_app.ts";

async function readScript(language: "bash" | "sh"): Promise<string> {
  const page = await Bun.file(new URL("../../docs/ci.md", import.meta.url)).text();
  const script = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(page)?.[1];
  if (!script) throw new Error("Cannot find the script in docs/ci.md");
  return script;
}

async function openRepository(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "ulr-ci-"));
  await mkdir(join(folder, "agents"));
  await mkdir(join(folder, ".github"));
  await writeFile(join(folder, ".github/check-definitions.sh"), await readScript("bash"));
  await writeFile(join(folder, "publish.sh"), await readScript("sh"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, "agents", name), text);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

type Server = Pick<ListeningApp, "origin">;

function check(server: Server, folder: string, env: Record<string, string>) {
  return run(".github/check-definitions.sh", server, folder, env);
}

async function run(script: string, { origin }: Server, folder: string, env: Record<string, string>) {
  const child = Bun.spawn(["bash", script], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ULR_API: `${origin}/api/v1`, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, lines: out.split("\n").filter((line) => line !== ""), err };
}

test("the CI script annotates each problem at its line, and fails if a file is invalid", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  const person = await app.make.person();
  await publishAgent(app, person, { name: "base" });
  await publishAgent(app, person, { name: "user", yaml: agentNeeding("user", ["base@^1.0.0"]) });
  const { key } = await app.make.key({ userId: person.user.id, kind: "user", scope: "read" });
  const env = { ULR_ORG: person.org.slug, ULR_KEY: key };
  await using good = await openRepository({
    "unchanged.agent.yaml": agentYaml("base"),
    "next, one.agent.yaml": agentYaml("base", "2.0.0"),
    "tools.agent.yaml": agentYaml("tools", "1.0.0", { tools: "[Reed]" }),
  });
  expect(await check(server, good.folder, env)).toEqual({
    code: 0,
    err: "",
    lines: [
      `::warning file=agents/next%2C one.agent.yaml,line=1,col=1,title=BREAKS::agent @${person.org.slug}/user@1.0.0 needs ^1.0.0, which this version does not satisfy.`,
      '::warning file=agents/tools.agent.yaml,line=9,col=13,title=UNKNOWN_TOOL::"Reed" is not a tool of definitions. Did you mean "Read"?',
    ],
  });
  const hostile = agentYaml("bad").replace("name: bad", 'name: "x\\n::error::owned%"');
  await using bad = await openRepository({
    "bad.agent.yaml": hostile,
    "changed.agent.yaml": `${agentYaml("base")}  mission2: x\n`,
  });
  const checked = await check(server, bad.folder, env);
  expect(checked.code).toBe(1);
  expect(checked.lines).toEqual([
    expect.stringMatching(
      /^::error file=agents\/bad\.agent\.yaml,line=3,col=11,title=UNPROCESSABLE_ENTITY::Cannot use .*owned%25/,
    ),
    expect.stringMatching(/^::error file=agents\/changed\.agent\.yaml,line=1,col=1,title=VERSION_EXISTS::/),
    expect.stringMatching(
      /^::warning file=agents\/changed\.agent\.yaml,line=11,col=3,title=UNKNOWN_KEY::"mission2"/,
    ),
  ]);
});

test("the CI script fails if it cannot check a file, and never prints the API key", async () => {
  await using server = await openListeningApp();
  const person = await server.app.make.person();
  await using repository = await openRepository({ "a.agent.yaml": agentYaml("a") });
  const wrong = await check(server, repository.folder, { ULR_ORG: person.org.slug, ULR_KEY: "ulr_wrong" });
  expect([wrong.code, wrong.lines]).toEqual([1, [expect.stringContaining("title=NOT_CHECKED::")]]);
  expect(wrong.lines.join() + wrong.err).not.toContain("ulr_wrong");
  const unset = await check(server, repository.folder, { ULR_ORG: person.org.slug });
  expect([unset.code, unset.lines]).toEqual([1, []]);
});

test("the CI script retries a rate-limited request, and reports the error if retries fail", async () => {
  await using server = await openListeningApp();
  const person = await server.app.make.person();
  const { folder, ...repository } = await openRepository({ "a.agent.yaml": agentYaml("a") });
  await using _ = repository;
  let refusals = 1;
  const body = { error: { code: "RATE_LIMITED", message: "Too many requests." } };
  await using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      if (refusals-- > 0) return Response.json(body, { status: 429, headers: { "retry-after": "1" } });
      const { pathname, search } = new URL(request.url);
      return fetch(`${server.origin}${pathname}${search}`, request);
    },
  });
  const env = { ULR_ORG: person.org.slug, ULR_KEY: person.key };
  const origin = proxy.url.origin;
  expect(await check({ origin }, folder, env)).toMatchObject({
    code: 0,
    lines: [],
    err: expect.not.stringContaining("jq"),
  });
  refusals = 6;
  expect(await check({ origin }, folder, env)).toMatchObject({
    code: 1,
    lines: [expect.stringMatching(/title=NOT_CHECKED::Too many requests\.$/)],
  });
});

test("the CI script does not mistake a draft for a published version", async () => {
  await using server = await openListeningApp();
  const person = await server.app.make.person();
  await createAgent(server.app, person, { name: "waiting" });
  await using repository = await openRepository({ "waiting.agent.yaml": agentYaml("waiting") });
  const checked = await check(server, repository.folder, { ULR_ORG: person.org.slug, ULR_KEY: person.key });
  expect([checked.code, checked.lines]).toEqual([1, [expect.stringContaining("title=VERSION_EXISTS::")]]);
});

test("the publish script publishes only the versions that are not published yet", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  const person = await app.make.person();
  await publishAgent(app, person, { name: "same" });
  await using repository = await openRepository({
    "same.agent.yaml": `${agentYaml("same")}# Only a comment is new.\n`,
    "a=no line end.agent.yaml": agentNeeding("first", ["last@^1.0.0"]).trimEnd(),
    "prüfer.agent.yaml": `---\n${agentYaml("last").replaceAll("\n", "\r\n")}`,
  });
  const env = { ULR_ORG: person.org.slug, ULR_KEY: person.key };
  const first = await run("publish.sh", server, repository.folder, env);
  expect(first.code).toBe(0);
  const names = JSON.parse(first.lines.at(-1) ?? "").data.definitions.map(
    ({ name }: { name: string }) => name,
  );
  expect(names.toSorted()).toEqual(["first", "last"]);
  expect(await run("publish.sh", server, repository.folder, env)).toMatchObject({ code: 0, lines: [] });
});
