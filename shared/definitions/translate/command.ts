/** Runtime Markdown of commands: a file for `.claude/commands/`. */
import { writeAfterwards, writeCommandReport, writeRecord } from "./command/afterwards.ts";
import { commandArgumentHint, writeCommandArguments, writeInputs } from "./command/arguments.ts";
import { writeCommandPreflight, writeRepeat, writeRun } from "./command/run.ts";
import { renderFrontMatter } from "./front_matter.ts";
import { type Source, writeTitle, writeUnknownBlocks } from "./interface_block.ts";
import { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";
import { passage } from "./passage.ts";

/** `allowed-tools` is never written: it would let a text from a registry use tools without asking. */
export function renderCommand(source: Source): string {
  const { body } = source;
  const model = body.map("execution")?.map("model")?.peek("default") ?? body.map("execution")?.peek("model");
  const frontMatter = renderFrontMatter([
    ["description", source.description],
    ["argument-hint", commandArgumentHint(body)],
    ["model", bareModelAlias(model)],
  ]);
  const w = new MarkdownWriter();
  writeTitle(w, source);
  w.paragraph(passage(source.description));
  writeCommandArguments(w, source);
  writeInputs(w, body);
  writeCommandPreflight(w, body);
  writeRun(w, source);
  writeRepeat(w, body);
  writeAfterwards(w, body);
  writeRecord(w, body);
  writeCommandReport(w, body);
  writeUnknownBlocks(w, source);
  return `${frontMatter}\n${w}`;
}
