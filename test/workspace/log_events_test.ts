/** docs/monitoring.md lists the events that the processes log. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

const NAME = /"([a-z_]+\.[a-z_]+)"/g;
/** The event that callers pass to `sendMail` of jobs/mailer.ts, and the suffixes that `sendMail` adds. */
const MAIL = /event: "([a-z]+_mail)"/g;
const OUTCOMES = ["sent", "failed", "refused"] as const;

async function listLogged(): Promise<string[]> {
  const events = new Set<string>();
  for (const path of await listFiles("{api,catalog-sync,jobs,shared,sql}/**/*.ts")) {
    const text = await Bun.file(join(ROOT, path)).text();
    for (const line of text.split("\n").filter((line) => /\b(?:event\b|warn\("|rest\()/.test(line))) {
      for (const [, name = ""] of line.matchAll(NAME)) events.add(name);
      for (const [, mail = ""] of line.matchAll(MAIL))
        for (const end of OUTCOMES) events.add(`${mail}.${end}`);
    }
  }
  return [...events].sort();
}

test("docs/monitoring.md lists exactly the events that the processes log", async () => {
  const page = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
  const [, section = ""] = page.split("\n## Log events\n");
  const rows = [...section.matchAll(/^\| (`[^|]+`) \| (?:api|jobs|catalog-sync|all|, )+ \|/gm)];
  const documented = rows.flatMap(([, names = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, n = ""]) => n),
  );
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.sort()).toEqual(await listLogged());
});
