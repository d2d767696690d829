/** Reads commands from `docs/deploying.md`. */
import { join } from "node:path";
import { ROOT } from "../workspace/source_files.ts";

/** Returns the commands below a heading. */
export async function readCommands(heading: string): Promise<string> {
  const page = await Bun.file(join(ROOT, "docs/deploying.md")).text();
  const [, section = ""] = page.split(`# ${heading}\n`);
  const [, commands] = /^```sh\n(.*?)^```$/ms.exec(section.split(/^#/m)[0] ?? "") ?? [];
  if (!commands) throw new Error(`Cannot find commands below "${heading}" in docs/deploying.md`);
  return commands;
}
