/** A file that a pipeline keeps. */
import type { Fields } from "../field_reader.ts";
import { writeLeftoverBullets } from "../generic_section.ts";
import { given, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { plural, yesNo } from "../measures.ts";

export function writeArtifactSection(w: MarkdownWriter, artifact: Fields): void {
  const facts = join(
    [
      given(artifact.number("retention_days"), (days) => md`kept for ${plural(days, "day")}`),
      given(yesNo(artifact.flag("required")), (word) => (word === "yes" ? md`required` : md`optional`)),
    ],
    ", ",
  );
  const text = join([artifact.code("name", "id"), artifact.code("path")], " at ");
  const described = join([text, given(facts, (known) => md`(${known})`)], " ");
  w.bullet(
    given(described, (known) => md`Artifact ${known}`),
    () => writeLeftoverBullets(w, artifact),
  );
}
