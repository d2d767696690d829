/** The commands and statements in docs/increments.md keep a copy current. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openListeningApp } from "../helpers/http/listening_app.ts";
import { runCommand } from "../helpers/process/command.ts";
import { waitFor } from "../helpers/wait_for.ts";

async function readBlocks(language: "sh" | "sql"): Promise<[first: string, then: string]> {
  const page = await Bun.file(new URL("../../docs/increments.md", import.meta.url)).text();
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language);
  const [first, then] = blocks.map(([, , text]) => text);
  if (!first || !then) throw new Error(`Cannot find two blocks of ${language} in docs/increments.md`);
  return [first, then];
}

test("a copy in DuckDB follows its project, through an increment without rows too", async () => {
  await using server = await openListeningApp();
  const { app, origin } = server;
  const { person, project, ids } = await makeExportProject(app);
  const directory = await mkdtemp(join(tmpdir(), "ulr-increments-"));
  const instance = await DuckDBInstance.create();
  const copy = await instance.connect();
  const [takeFull, takeIncrement] = await readBlocks("sh");
  const [create, apply] = await readBlocks("sql");
  /** Runs commands with the `since` of those before, and unpacks what they have taken. */
  const take = async (commands: string, name: "full" | "increment") => {
    const own = commands
      .replace("https://ulr.example.com", origin)
      .replace("checkout-service", project.id)
      .replaceAll("X-Org-Slug: demo", `X-Org-Slug: ${person.org.slug}`);
    const api = `api=${origin}/api/v1/export/projects/${project.id}`;
    const before = `cd ${directory}\n${api}\nsince=$(cat since 2>/dev/null || true)\n`;
    const after = `\necho "$since" >since\nrm -rf ${name}\nunzip -q -d ${name} ${name}.zip\n`;
    const { exitCode, stderr } = await runCommand(["bash", "-euo", "pipefail", "-c", before + own + after], {
      env: { PATH: process.env["PATH"] ?? "", KEY: person.key },
    });
    expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
  };
  const execute = async (statements: string) => {
    const placed = statements.replaceAll(/'(full|increment)\//g, `'${directory}/$1/`);
    for (const statement of placed.split(";\n")) if (statement.trim() !== "") await copy.run(statement);
  };
  const listTitles = async () => {
    const rows = await copy.runAndReadAll("select id, title from issues order by id");
    return Object.fromEntries(rows.getRows() as [string, string][]);
  };
  try {
    await take(takeFull, "full");
    await execute(create);
    const [open = "", completed = ""] = [ids["open issue"], ids["completed issue"]];
    expect(Object.keys(await listTitles()).sort()).toEqual([open, completed].sort());
    await take(takeIncrement, "increment");
    await execute(apply);
    expect(Object.keys(await listTitles()).sort()).toEqual([open, completed].sort());
    await app.db.sql`update issues set title = 'Changed' where id = ${open}`;
    await app.db.sql`update issues set deleted_at = now() where id = ${completed}`;
    // The cutoff of exports is a moment behind.
    await waitFor(async () => {
      await take(takeIncrement, "increment");
      await execute(apply);
      return Bun.deepEquals(await listTitles(), { [open]: "Changed" });
    }, 20_000);
  } finally {
    copy.closeSync();
    await rm(directory, { recursive: true, force: true });
  }
}, 60_000);
