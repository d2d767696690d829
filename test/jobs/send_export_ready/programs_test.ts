/** Tests that a standard mail parser accepts the mail of a ready export. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { runCommand } from "../../helpers/process/command.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

/** Prints the defects that Python's email parser finds in any part or header. */
const PROGRAM = `
import email, email.policy, sys
mail = email.message_from_binary_file(open(sys.argv[1], "rb"), policy=email.policy.default)
print([str(d) for part in mail.walk() for d in [*part.defects, *(d for v in part.values() for d in v.defects)]])`;

test("the export mail passes Python's email parser without defects, even with unusual organization names", async () => {
  await using app = await openTestApp({ config: { mailFrom: '"Acme, Inc." <exports@mail.example>' } });
  for (const name of [
    "Acme",
    'Ünï <b>"Co"</b> & 空',
    "Evil\r\nBcc: victim@example.com\r\n\r\nBody\u2028\u202etxt",
  ]) {
    const { person } = await makeExportProject(app);
    await app.db.sql`update organizations set name = ${name} where id = ${person.org.id}`;
    const { id } = await jobOf(await postJob(app, person));
    await using runner = await openTestRunner(app);
    await runner.build(id);
    await runner.mail(id);
    const path = join(app.deps.config.dataDir, "mail", `${id}.eml`);
    const { stdout, stderr } = await runCommand(["python3", "-c", PROGRAM, path]);
    expect([name, stdout, stderr]).toEqual([name, "[]\n", ""]);
  }
});
