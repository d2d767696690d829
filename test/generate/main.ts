/** Entry point of `bun run generate`. */
import { parseArgs } from "node:util";
import { bootstrap, type Command } from "../../deploy/local/bootstrap.ts";

const USAGE = `Usage: DATABASE_URL=… bun run generate [--projects 100] [--rows 1000000] [--connections 2]

Makes an organization in a migrated database and fills its projects with tracker rows, for load tests. What is there stays.
A million rows take some 1.1 GB and a minute.
`;
const SHOWN_EVERY_MS = 2000;

async function generate({ env, args, step }: Command): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      projects: { type: "string", default: "100" },
      rows: { type: "string", default: "1000000" },
      connections: { type: "string", default: "2" },
      help: { type: "boolean", default: false },
    },
  });
  const url = env["DATABASE_URL"];
  const [projects = 0, rows = 0, connections = 0] = [values.projects, values.rows, values.connections].map(
    Number,
  );
  const isUsable = [projects, rows, connections].every((number) => Number.isInteger(number) && number > 0);
  if (values.help || !url || !isUsable) {
    await Bun.write(values.help ? Bun.stdout : Bun.stderr, USAGE);
    return values.help ? 0 : 2;
  }
  const { generateRows } = await import("./generate_rows.ts");
  const title = `Making ${projects.toLocaleString("en")} projects of ${rows.toLocaleString("en")} rows in all`;
  let shownAt = 0;
  const { slug, key } = await step(title, (note) => {
    const onProgress = (text: string): void => {
      if (performance.now() - shownAt < SHOWN_EVERY_MS) return;
      shownAt = performance.now();
      note(text);
    };
    return generateRows({ url, projects, rows, connections, onProgress });
  });
  await Bun.write(Bun.stdout, `Organization ${slug}, API key of its owner ${key}\n`);
  return 0;
}

process.exit(await bootstrap(process, generate));
