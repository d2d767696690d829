/** The commands and statements in docs/increments.md keep a copy current. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { type ListeningApp, openListeningApp } from "../helpers/http/listening_app.ts";
import type { Person } from "../helpers/postgres/factory.ts";
import { runCommand } from "../helpers/process/command.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

type Archive = "full" | "increment" | "project";

/** Returns a section's blocks in one language, in order. */
async function readBlocks(heading: string, language: "sh" | "sql"): Promise<string[]> {
  const page = await Bun.file(new URL("../../docs/increments.md", import.meta.url)).text();
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , text]) => text ?? "");
}

/** Opens a copy in DuckDB, with a shell that downloads exports. */
async function openCopy({ origin }: ListeningApp, { key, org }: Person) {
  const directory = await mkdtemp(join(tmpdir(), "ulr-increments-"));
  const instance = await DuckDBInstance.create();
  const copy = await instance.connect();
  const place = (statement: string): string =>
    statement.replaceAll(/'(full|increment|project)\//g, `'${directory}/$1/`);
  return {
    /** Runs commands with the value of `since` from earlier calls, and unpacks the archive that they download. */
    async take(name: Archive, commands: string, variables: Readonly<Record<string, string>> = {}) {
      const own = commands
        .replace("https://ulr.example.com", origin)
        .replaceAll("X-Org-Slug: demo", `X-Org-Slug: ${org.slug}`)
        .replace("projects/checkout-service", `projects/${variables["project"]}`);
      const script = `cd ${directory}
since=$(cat since 2>/dev/null || true)
${own}
echo "$since" >since
rm -rf ${name}
unzip -q -d ${name} ${name}.zip`;
      const { exitCode, stderr } = await runCommand(["bash", "-euo", "pipefail", "-c", script], {
        env: { PATH: process.env["PATH"] ?? "", KEY: key, ...variables },
      });
      expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
    },
    async execute(statements: string): Promise<void> {
      for (const statement of place(statements).split(";\n")) {
        if (statement.trim() !== "") await copy.run(statement);
      }
    },
    async query(statement: string): Promise<unknown[][]> {
      return (await copy.runAndReadAll(place(statement))).getRows();
    },
    async [Symbol.asyncDispose]() {
      copy.closeSync();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

test("a DuckDB copy of a project, updated by increments, stays current even after an empty increment", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  const { person, project, ids } = await makeExportProject(app);
  await using copy = await openCopy(server, person);
  const [takeFull = "", takeIncrement = ""] = await readBlocks("Keep a copy", "sh");
  const [create = "", apply = ""] = await readBlocks("Keep a copy", "sql");
  const [api] = takeFull.split("\n");
  const follow = async () => {
    await copy.take("increment", `${api}\n${takeIncrement}`, { project: project.id });
    await copy.execute(apply);
  };
  const listTitles = async () =>
    Object.fromEntries(await copy.query("select id, title from issues where project is not null"));
  await copy.take("full", takeFull, { project: project.id });
  await copy.execute(create);
  const [open = "", completed = ""] = [ids["open issue"], ids["completed issue"]];
  expect(Object.keys(await listTitles()).sort()).toEqual([open, completed].sort());
  await follow();
  expect(Object.keys(await listTitles()).sort()).toEqual([open, completed].sort());
  await app.db.sql`update issues set title = 'Changed' where id = ${open}`;
  await app.db.sql`update issues set deleted_at = now() where id = ${completed}`;
  // The cutoff of an export is slightly in the past.
  await waitFor(async () => {
    await follow();
    return Bun.deepEquals(await listTitles(), { [open]: "Changed" });
  });
});

test("a DuckDB copy of an organization stays current as rows move and projects are deleted, restored and created", async () => {
  await using server = await openListeningApp({ config: { exportJobsPerHour: 100 } });
  const { app } = server;
  const { sql } = app.db;
  const person = await app.make.person({ role: "publisher" });
  const owned = { orgId: person.org.id, ownerId: person.user.id };
  // Directories in the archive are in the order of the projects' ids.
  const [first, second, gone, restored] = await Promise.all([1, 2, 3, 4].map(() => app.make.project(owned)));
  if (!first || !second || !gone || !restored) throw new Error("Cannot make the projects");
  const issueOf = (project: { id: string }) => app.make.issue({ projectId: project.id });
  const [forth, back, twice, stays] = [
    await issueOf(first),
    await issueOf(second),
    await issueOf(first),
    await issueOf(second),
  ];
  for (const project of [gone, restored]) await issueOf(project);
  await sql`update projects set deleted_at = now() where id = ${restored.id}`;
  await using _runner = await openTestRunner(app, { isWorking: true });
  await using copy = await openCopy(server, person);
  const heading = "Keep a copy of an organization";
  const [takeFull = "", takeIncrement = "", takeProject = ""] = await readBlocks(heading, "sh");
  const [create = "", apply = "", empty = "", listNew = "", addNew = ""] = await readBlocks(heading, "sql");
  const [functions = ""] = takeFull.split("export_organization '");
  const read = async () => ({
    projects: (await copy.query("select id from projects order by id")).flat(),
    issues: await copy.query("select project, id, title from issues order by project, id"),
  });
  const expected = async () => ({
    projects: (
      await sql<{ id: string }[]>`
        select id from projects where org_id = ${person.org.id} and deleted_at is null order by id`
    ).map(({ id }) => id),
    issues: (
      await sql<{ projectId: string; id: string; title: string }[]>`
        select i.project_id, i.id, i.title
        from issues as i join projects as p on p.id = i.project_id
        where p.org_id = ${person.org.id} and p.deleted_at is null and i.deleted_at is null
        order by i.project_id, i.id`
    ).map(({ projectId, id, title }) => [projectId, id, title]),
  });
  const follow = async () => {
    await copy.take("increment", functions + takeIncrement);
    await copy.execute(apply);
    for (const [project] of await copy.query(listNew.replace(";", ""))) {
      await copy.take("project", functions + takeProject, { project: String(project) });
      await copy.execute(addNew);
    }
    return Bun.deepEquals(await read(), await expected());
  };

  await waitFor(async () => {
    await copy.execute("drop table if exists projects;\ndrop table if exists issues;\n");
    await copy.take("full", takeFull);
    await copy.execute(create);
    return Bun.deepEquals(await read(), await expected());
  });
  // Rows move in both directions, so that applying the projects one after the other would be wrong in one direction.
  await sql`update issues set project_id = ${second.id} where id = ${forth.id}`;
  await sql`update issues set project_id = ${first.id} where id = ${back.id}`;
  await sql`update issues set title = 'Changed' where id = ${stays.id}`;
  await sql`update projects set deleted_at = now() where id = ${gone.id}`;
  await sql`update projects set deleted_at = null where id = ${restored.id}`;
  await issueOf(await app.make.project(owned));
  await waitFor(follow);
  for (const project of [second, first, second]) {
    await sql`update issues set project_id = ${project.id} where id = ${twice.id}`;
  }
  await waitFor(follow);
  expect(await read()).toEqual(await expected());
  await sql`update projects set deleted_at = now()`;
  await copy.take("increment", functions + takeIncrement);
  const applied = await copy.execute(apply).catch(String);
  expect(applied).toContain("No files found");
  await copy.execute(empty);
  expect(await read()).toEqual({ projects: [], issues: [] });
});
