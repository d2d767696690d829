/** Runtime Markdown of commands: a file for `.claude/commands/`. */
import { writePreflightList } from "./checks.ts";
import { writeAfterwards, writeCommandReport, writeRecord } from "./command/afterwards.ts";
import { commandArgumentHint, writeCommandArguments, writeInputs } from "./command/arguments.ts";
import { writeCommandPreflight, writeRepeat, writeRun } from "./command/run.ts";
import { md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import { bareModelAlias } from "./model_alias.ts";

const SECTIONS: readonly MarkdownSection[] = [
  writeDescription,
  writeCommandArguments,
  writeInputs,
  writePreflightList,
  block("preflight", md`Before you start`, writeCommandPreflight),
  writeRun,
  block("iteration", md`Repeat`, writeRepeat),
  block("postflight", md`Afterwards`, writeAfterwards),
  block("tracking", md`Record`, writeRecord),
  block("output", md`Report`, writeCommandReport),
];

/** `allowed-tools` is never written: it would let a text from a registry use tools without asking. */
export function renderCommand(source: Source): string {
  const { body } = source;
  const model = body.map("execution")?.map("model")?.peek("default") ?? body.map("execution")?.peek("model");
  const frontMatter = [
    ["description", source.description],
    ["argument-hint", commandArgumentHint(body)],
    ["model", bareModelAlias(model)],
  ] as const;
  return renderFile(source, frontMatter, SECTIONS);
}
