/** Entry point of `bun run goldens`: writes the golden files that renderings are compared with. Review the diff. */

import { join } from "node:path";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { digestGoldens, translateDemo } from "../helpers/definitions/translation.ts";

requireNoArguments(
  process,
  "Usage: bun run goldens\n\nWrites the renderings of the demo's definitions to test/fixtures/translate/.\n",
);

const FOLDER = join(import.meta.dir, "../fixtures/translate");

const goldens = translateDemo();
const digest = digestGoldens(goldens);
const versionsFile = Bun.file(join(FOLDER, "versions.json"));
const versions: Record<string, string> = (await versionsFile.exists()) ? await versionsFile.json() : {};
const known = versions[TRANSLATOR_VERSION];
if (known !== undefined && known !== digest) {
  process.stderr.write(
    `The output changed: raise TRANSLATOR_VERSION, which is still ${TRANSLATOR_VERSION}\n`,
  );
  process.exit(1);
}
for (const { file, runtimeMd } of goldens) await Bun.write(join(FOLDER, file), runtimeMd);
await Bun.write(versionsFile, `${JSON.stringify({ ...versions, [TRANSLATOR_VERSION]: digest }, null, 2)}\n`);
process.stdout.write(`${goldens.length} files written to ${FOLDER}\n`);
