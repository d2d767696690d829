/** Popular client generators and a linter, run on the OpenAPI document. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedSmallDemo } from "../../../helpers/demo.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { readDocument } from "../../../helpers/http/openapi.ts";
import { loadBundledCatalog } from "../../../helpers/models/catalog.ts";

const ROOT = join(import.meta.dir, "../../../..");
/** A folder with its own packages. Its programs import generated code, so only this test type-checks them. */
const CLIENTS = join(ROOT, "test/fixtures/clients");
const PROGRAMS = ["openapi_fetch", "hey_api", "orval", "kubb"] as const;
const STRICT = [
  ...["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--module", "preserve", "--target", "esnext"],
  // `--skipLibCheck` skips the declaration files of TypeScript and packages, which would take half of the time.
  ...["--lib", "esnext,dom,dom.iterable", "--allowImportingTsExtensions", "--skipLibCheck"],
];

interface Program {
  visit(visitor: object): Promise<object>;
}

async function run(cwd: string, args: readonly string[]): Promise<[number, string]> {
  const child = Bun.spawn([process.execPath, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return [await child.exited, said.join("")];
}

let open: ListeningApp;
/** The folder for generated code. It contains the document as `openapi.json` and the clients' packages. */
let folder: string;
beforeAll(async () => {
  open = await openListeningApp();
  folder = await mkdtemp(join(tmpdir(), "ulr-clients-"));
  await Bun.write(join(folder, "openapi.json"), JSON.stringify(await readDocument(open.app)));
  await symlink(join(CLIENTS, "node_modules"), join(folder, "node_modules"));
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function buildClients(): Promise<void> {
  const generator = join(CLIENTS, "generate.ts");
  const [generated, said] = await run(folder, [generator, join(folder, "openapi.json"), folder, open.origin]);
  expect([generated, said]).toEqual([0, expect.not.stringMatching(/warn|error/i)]);
  for (const file of await readdir(CLIENTS)) {
    if (file.endsWith(".ts")) await copyFile(join(CLIENTS, file), join(folder, file));
  }
  const files = PROGRAMS.map((name) => `${name}.ts`);
  // Uses only the faster compiler, because `client_test.ts` compiles types of the same document with both compilers.
  const tsc = join(ROOT, "node_modules/typescript-7/bin/tsc");
  expect(await run(folder, [tsc, ...STRICT, ...files])).toEqual([0, ""]);
}

async function seedVisitor({ app, origin }: ListeningApp) {
  const { sql } = app.db;
  await seedSmallDemo(sql);
  await loadBundledCatalog(sql);
  const [owner] = await sql<[{ id: string }]>`select id from users where username = 'demo-owner'`;
  const { token: key } = await app.make.session({ userId: owner.id });
  return { origin, key, slug: "demo", project: "checkout-service" };
}

test("clients from four generators compile strictly, and read and write the same data", async () => {
  const visitor = await seedVisitor(open);
  await buildClients();
  const expected = {
    models: expect.any(Number),
    repeated: 304,
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    markdown: "---",
    rows: expect.any(Number),
    column: "id",
    events: expect.arrayContaining(["agent code-reviewer"]),
    secret: "whsec_",
    deleted: 204,
    cost: "1.25",
    suggestions: expect.arrayContaining(["openai/gpt-5"]),
  };
  const found: object[] = [];
  for (const name of PROGRAMS) {
    const program: Program = await import(join(folder, `${name}.ts`));
    found.push(await program.visit(visitor));
    expect([name, found.at(-1)]).toEqual([name, expected]);
  }
  expect(found).toEqual(PROGRAMS.map(() => found[0] ?? {}));
  expect(found[0]).not.toMatchObject({ models: 0 });
});

// document_test.ts applies Redocly's rules, including stricter ones than Redocly recommends.
test("Spectral finds no error with its recommended rules", async () => {
  await Bun.write(join(folder, "ruleset.yaml"), "extends: [spectral:oas]\n");
  const spectral = join(CLIENTS, "node_modules/.bin/spectral");
  expect(await run(folder, [spectral, "lint", "openapi.json", "-r", "ruleset.yaml"])).toEqual([
    0,
    expect.stringContaining("No results with a severity of 'error' found"),
  ]);
});
