/** The program in docs/languages.md computes both digests of a definition from its URL, and detects wrong digests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { agentYaml, ask, definitionOf, write } from "../../helpers/definitions/definitions.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { listRandomDocuments, listScalarDocuments } from "../../helpers/definitions/digest_samples.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";
import type { Person } from "../../helpers/postgres/factory.ts";

async function readProgram(): Promise<string> {
  const page = await Bun.file(new URL("../../../docs/languages.md", import.meta.url)).text();
  const program = /^```js\n(import .*?)^```$/ms.exec(page)?.[1];
  if (!program) throw new Error("Cannot find the program in docs/languages.md");
  return program;
}

/** Runs the program for all URLs in one process, because starting a process takes longer than its work. */
const RUN_ALL = `
for (const [index, address] of process.argv.slice(2).entries()) {
  console.log(address);
  process.argv[2] = address;
  await import("./digests.mjs?" + index);
}`;

/** A temporary folder with the program and its package. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ulr-digests-"));
  await symlink(join(import.meta.dir, "../../../node_modules"), join(folder, "node_modules"));
  await Bun.write(join(folder, "digests.mjs"), await readProgram());
  await Bun.write(join(folder, "all.mjs"), RUN_ALL);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Publishes a document as a public definition and returns the definition's path. */
async function publish(api: TestApp, person: Person, document: { type: DefinitionType; yaml: string }) {
  const { type, yaml } = document;
  const { name, version } = parsed(yaml, type);
  await write(api, `/${type}/${name}`, person, { body: { yaml, visibility: "public" } });
  const published = await write(api, `/${type}/${name}@${version}/publish`, person);
  expect([yaml, published.status]).toEqual([yaml, 200]);
  return `/api/v1/definitions/${type}/@${person.org.slug}/${name}@${version}`;
}

async function run(script: string, addresses: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, script, ...addresses], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return `${out}${err}${await child.exited}`;
}

test("the program in docs/languages.md confirms the API's digests for definitions of all types", async () => {
  await using server = await openListeningApp();
  const { app, origin } = server;
  const addresses: string[] = [];
  const person = await app.make.person();
  for (const document of [...readDemoDefinitions(), ...listScalarDocuments()])
    addresses.push(await publish(app, person, document));
  for (const document of listRandomDocuments())
    addresses.push(await publish(app, await app.make.person(), document));
  const published = addresses.map((address) => `${origin}${address}`);
  const right = published.map((address) => `${address}\nThe digests are right.\n`);
  expect(await run("all.mjs", published)).toBe(`${right.join("")}0`);
});

test("the program in docs/languages.md detects that the rendered Markdown was changed", async () => {
  await using server = await openListeningApp();
  const { app, origin } = server;
  const person = await app.make.person();
  const address = `${origin}${await publish(app, person, { type: "agent", yaml: agentYaml("reviewer") })}`;
  expect(await run("digests.mjs", [address])).toBe("The digests are right.\n0");
  await app.db.sql`update definitions set runtime_md = runtime_md || ' '`;
  expect(await run("digests.mjs", [address])).toBe("A digest is wrong.\n1");
});

test("workflows with different tasks have different hashes, even if they have the same normal form", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yamlOf = (version: string, task: string) =>
    `workflow:
  interface: {name: checks, version: ${version}, description: Checks each change before it is merged.}
  orchestration: {phases: [{name: one, steps: [{agent: reviewer, task: ${task}}]}]}
`;
  const [first, second] = [yamlOf("1.0.0", "Review it"), yamlOf("1.0.1", "Delete it")];
  const read = async (yaml: string, version: string) => {
    await write(api, "/workflow/checks", person, { body: { yaml } });
    const path = `/workflow/checks@${version}?normalize=true`;
    return definitionOf(await ask(api, path, person));
  };
  const [one, other] = [await read(first, "1.0.0"), await read(second, "1.0.1")];
  expect(one.yaml.replace("1.0.0", "1.0.1")).toBe(other.yaml);
  const same = `# as before\n${yamlOf("1.0.1", "'Review it'")}`;
  const put = await write(api, "/workflow/checks@1.0.1", person, { method: "PUT", body: { yaml: same } });
  expect((await definitionOf(put)).hash).not.toBe(other.hash);
});

test("lists contain the hash and the prompt hash, and text responses have a Repr-Digest of their bytes", async () => {
  await using server = await openListeningApp();
  const { app, origin } = server;
  const person = await app.make.person();
  const paragraphs = "Read the diff, then the code around it. ".repeat(200);
  const yaml = `${agentYaml("reviewer")}  context: {shell: "${paragraphs}"}\n`;
  const address = `${origin}${await publish(app, person, { type: "agent", yaml })}`;
  const { hash, promptHash, runtimeMd } = await definitionOf(await fetch(address));
  const list = (await (await fetch(`${origin}/api/v1/definitions?search=reviewer`)).json()) as {
    data: { definitions: object[] };
  };
  expect(list.data.definitions).toMatchObject([{ hash, promptHash }]);
  const read = async (format: string, encoding: string, headers: Record<string, string> = {}) => {
    const request = { headers: { "accept-encoding": encoding, ...headers }, decompress: false };
    const response = await fetch(`${address}.${format}`, request);
    const bytes = Buffer.from(await response.arrayBuffer());
    const digest = `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
    return { response, bytes, digest, sent: response.headers.get("repr-digest") };
  };
  const plain = await read("md", "identity");
  expect([plain.sent, plain.bytes.toString()]).toEqual([plain.digest, runtimeMd ?? ""]);
  expect(Buffer.from(plain.sent?.slice(9, -1) ?? "", "base64").toString("hex")).toBe(
    promptHash?.slice(7) ?? "",
  );
  for (const format of ["md", "yaml"]) {
    const packed = await read(format, "gzip");
    expect([packed.response.headers.get("content-encoding"), packed.sent]).toEqual(["gzip", packed.digest]);
    const etag = packed.response.headers.get("etag") ?? "";
    const known = await read(format, "gzip", { "if-none-match": etag });
    expect([known.response.status, known.sent]).toEqual([304, null]);
  }
});
