/**
 * Types that openapi-typescript generates from the document. With these types, a correct client compiles, mistakes do
 * not compile, and every operation can be called.
 */
import { expect, test } from "bun:test";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storedMails } from "../../../helpers/accounts/account_mail.ts";
import { makeAccount } from "../../../helpers/accounts/accounts.ts";
import { makeInvitation } from "../../../helpers/accounts/organization.ts";
import { PasskeyDevice } from "../../../helpers/accounts/passkey_device.ts";
import { codeAt } from "../../../helpers/accounts/totp_code.ts";
import { agentYaml, makeDefinition } from "../../../helpers/definitions/definitions.ts";
import { openListeningApp } from "../../../helpers/http/listening_app.ts";
import { listOperations, readDocument } from "../../../helpers/http/openapi.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

const ROOT = join(import.meta.dir, "../../../..");
/** The folder of a program that imports the generated types. Only this test type-checks the program. */
const PROGRAM = join(ROOT, "test/fixtures/client");
const PROGRAM_FILES = ["client.ts", "tour.ts", "mistakes.ts"];

interface Program {
  tour(visitor: object): Promise<{ called: string[]; found: object }>;
}

async function run(cwd: string, args: readonly string[]): Promise<[number, string]> {
  const child = Bun.spawn([process.execPath, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return [await child.exited, said.join("")];
}

/** Generates the types as the README says, copies the client to `directory`, and type-checks it strictly. */
async function buildClient(origin: string, directory: string): Promise<void> {
  for (const file of PROGRAM_FILES) await copyFile(join(PROGRAM, file), join(directory, file));
  const command = "openapi-typescript http://localhost:3000/swagger/json -o";
  expect(await Bun.file(join(ROOT, "README.md")).text()).toContain(`bunx ${command} ulr.ts\n`);
  const args = command.replace("http://localhost:3000", origin).split(" ");
  const [made, said] = await run(ROOT, ["x", "--no-install", ...args, join(directory, "service.ts")]);
  expect([made, said]).toEqual([0, expect.stringContaining("/swagger/json")]);
  const strict = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--module", "preserve"];
  // `--skipLibCheck` halves the time, because it skips the declaration files of TypeScript and packages.
  const options = [...strict, "--target", "esnext", "--allowImportingTsExtensions", "--skipLibCheck"];
  for (const compiler of ["typescript", "typescript-7"]) {
    const tsc = join(ROOT, "node_modules", compiler, "bin/tsc");
    expect([compiler, ...(await run(directory, [tsc, ...options, ...PROGRAM_FILES]))]).toEqual([
      compiler,
      0,
      "",
    ]);
  }
}

test("a client with generated types compiles, wrong uses do not compile, and the client calls every endpoint", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-client-"));
  try {
    await using open = await openListeningApp({ config: { signUp: "open", rateLimitLoginPerMinute: 100 } });
    const { app, origin } = open;
    await buildClient(origin, directory);
    await using runner = await openTestRunner(app);
    const account = await makeAccount(app, { platformRole: "admin" });
    const org = await app.make.org();
    await app.make.member({ orgId: org.id, userId: account.id, role: "owner" });
    const { id: otherMemberId } = await app.make.user();
    const host = await app.make.person({ role: "owner" });
    const invitation = { orgId: host.org.id, email: account.email, invitedBy: host.user.id };
    const { token: invitationToken } = await makeInvitation(app, invitation);
    await app.make.member({ orgId: org.id, userId: otherMemberId, role: "publisher" });
    const project = await app.make.project({ orgId: org.id, ownerId: account.id });
    const owner = { user: account, org };
    await makeDefinition(app.db.sql, owner, { name: "older", status: "published" });
    await syncFrom(app.db.sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
    const device = new PasskeyDevice();
    const program: Program = await import(join(directory, "tour.ts"));
    const { called, found } = await program.tour({
      origin,
      userId: account.id,
      email: account.email,
      password: account.password,
      slug: org.slug,
      otherMemberId,
      invitationToken,
      projectId: project.id,
      yaml: agentYaml("reviewer"),
      olderYaml: agentYaml("older"),
      codeOf: (secret: string) => codeAt(secret, Date.now()),
      usePasskey: (what: "create" | "get", { challenge }: { challenge: string }) =>
        device[what]({ challenge, origin: new URL(app.deps.config.publicUrl).origin }),
      build: runner.build,
      readMailToken: async (subject: string) => {
        await runner.accountMails();
        const mails = await storedMails(app);
        return mails.findLast(({ headers }) => headers["subject"] === subject)?.token;
      },
    });
    expect(found).toEqual({
      role: "owner",
      description: null,
      titles: Array(3).fill("Reviewer 1.0.0"),
      nodes: 1,
      status: "ready",
      columns: "id",
      rows: 0,
      jobs: 2,
      models: 1,
      hasMetrics: true,
    });
    const operations = listOperations(await readDocument(app)).map(({ name }) => name);
    expect(called.toSorted()).toEqual(operations.toSorted());
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
