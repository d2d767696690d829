import { expect, test } from "bun:test";
import { exportDataset } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { generateRows } from "./generate_rows.ts";

test("generateRows() creates about as many rows as requested and a key that can export them", async () => {
  await using app = await openTestApp();
  const said: string[] = [];
  const { slug, key } = await generateRows({
    url: app.db.url,
    projects: 3,
    rows: 300,
    connections: 2,
    onProgress: (text) => said.push(text),
  });
  const [{ rows, projects }] = await app.db.sql<[{ rows: number; projects: number }]>`
    select
      (select count(*) from issues) + (select count(*) from runs) + (select count(*) from occurrences)
        + (select count(*) from status_history) + (select count(*) from analysis_records) as rows,
      (select count(*) from projects as p join organizations as o on o.id = p.org_id where o.slug = ${slug}) as projects`;
  expect(Number(projects)).toBe(3);
  expect(Number(rows)).toBeGreaterThan(270);
  expect(Number(rows)).toBeLessThan(390);
  expect(said.at(-1)).toStartWith("3 of 3 projects");
  const [project] = await app.db.sql<{ id: string }[]>`select id from projects limit 1`;
  const person = { key } as Parameters<typeof exportDataset>[1]["person"];
  const response = await exportDataset(app, { person, project: project as never }, "issues");
  expect(response.status).toBe(200);
  expect((await response.text()).split("\n").length).toBeGreaterThan(30);
});
