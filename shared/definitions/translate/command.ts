/** Renders commands as runtime Markdown for a file in `.claude/commands/`. */
import { isRecord, toList } from "../../plain_values.ts";
import { scalarText } from "../../yaml/scalars.ts";
import { readChecks, writeChecks, writePreflightList } from "./checks.ts";
import type { Fields } from "./field_reader.ts";
import { isMultiLine, writeLeftoverBullets, writeLeftovers, writeOutcomes } from "./generic_section.ts";
import { code, collapse, type Inline, listed, md, sentence } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";
import { duration, plural, retries } from "./phrases.ts";
import { readReference } from "./reference.ts";
import { TranslationFailure } from "./translation_failure.ts";

const SECTIONS: readonly MarkdownSection[] = [
  writeDescription,
  writeArguments,
  writeInputs,
  writePreflightList,
  block("preflight", md`Before you start`, writePreflight),
  writeRun,
  block("iteration", md`Repeat`, writeRepeat),
  block("postflight", md`Afterwards`, writeAfterwards),
  block("tracking", md`Record`, writeRecord),
  block("output", md`Report`, writeReport),
];

/** Renders a command. Never writes `allowed-tools`, which would let a text from a registry use tools without asking. */
export function renderCommand(source: Source): string {
  const { body } = source;
  const execution = body.map("execution");
  const frontMatter = [
    ["description", source.description],
    ["argument-hint", listArgumentHints(body).join(" ") || null],
    ["model", bareModelAlias(execution.map("model").peek("default") ?? execution.peek("model"))],
  ] as const;
  return renderFile(source, frontMatter, SECTIONS);
}

/** Returns `<target>` for each input that the caller types, and `[mode]` if the input has a default. */
function listArgumentHints(body: Fields): string[] {
  return toList(body.peek("inputs")).flatMap((input) => {
    if (!isRecord(input) || input["source"] !== "arg") return [];
    const name = scalarText(input["arg"]) ?? scalarText(input["name"]);
    if (name === null) return [];
    return [(input["default"] ?? null) === null ? `<${collapse(name)}>` : `[${collapse(name)}]`];
  });
}

function writeArguments(w: MarkdownWriter, source: Source): void {
  const { body, name } = source;
  if (!body.hasMap("arguments") && listArgumentHints(body).length === 0) return;
  const block = body.map("arguments");
  w.heading(2, md`Arguments`);
  w.paragraph(md`The caller typed:`);
  w.paragraph(md`$ARGUMENTS`);
  const examples = block.texts("examples").map((example) => code(`/${name} ${example.trim()}`));
  w.bullets(md`Examples:`, examples);
  writeLeftovers(w, block);
}

/** The source of a value, by the word in `source`. */
const SOURCES: Readonly<Record<string, (input: Fields) => Inline | null>> = {
  arg: (input) => md`argument ${input.code("arg", "name")}`,
  env: (input) => md`environment variable ${input.code("env")}`,
  file: (input) => md`file ${input.code("path")}`,
  default: () => md`fixed value`,
  previous: (input) => md`result of ${input.code("from")}`,
};

function writeInputs(w: MarkdownWriter, { body }: Source): void {
  w.heading(2, md`Inputs`);
  const rows = body
    .entries("inputs", "name")
    .map((input) => [
      input.code("name"),
      input.known("source", SOURCES)?.(input) ?? input.prose("source"),
      input.literal("default", "value"),
      input.prose("description"),
    ]);
  w.table(["Name", "Source", "Default", "Meaning"], rows);
}

function writePreflight(w: MarkdownWriter, preflight: Fields): void {
  const banner = preflight.map("banner").text("template") ?? preflight.text("banner");
  if (banner !== null) {
    w.paragraph(md`Begin by showing this:`);
    w.fence(banner);
  }
  writeChecks(w, readChecks(preflight, "checks"));
}

/** Types of commands that call an agent. The last three are older names of `agent`. */
const AGENT_COMMANDS = new Set(["agent", "validator", "executor", "fixer"]);

/** Writes the agents to call and the options of the run. Fails with `missing_invokes` or `bad_reference`. */
function writeRun(w: MarkdownWriter, source: Source): void {
  const { body } = source;
  const agents = readAgents(source);
  w.heading(2, md`Run`);
  const kind = agents.length === 1 ? md`agent` : md`agents`;
  const work = md`Give the work to the ${kind} ${listed(agents)}.`;
  w.paragraph(work ?? md`There is no agent to call: do the steps of this page yourself.`);
  const execution = body.map("execution");
  writeExecution(w, execution);
  const overrides = body.map("overrides");
  writeOverrides(w, overrides);
  for (const block of [body.map("invokes"), execution, overrides]) writeLeftovers(w, block);
}

function readAgents({ body, interface: header }: Source): Inline[] {
  const invokes = body.map("invokes");
  const type = header.text("commandType");
  const single = invokes.raw("agent") ?? null;
  const several = invokes.list("agents");
  const agents = [
    ...(single === null ? [] : [readReference(single, "command.invokes.agent")]),
    ...several.map((agent, index) => readReference(agent, `command.invokes.agents[${index}]`)),
  ];
  const needsAgent = type === null ? body.peek("invokes") !== undefined : AGENT_COMMANDS.has(type);
  if (needsAgent && agents.length === 0) {
    const message = "The command names no agent to call";
    throw new TranslationFailure("missing_invokes", "command.invokes.agent", message);
  }
  return agents;
}

function writeExecution(w: MarkdownWriter, execution: Fields): void {
  const model = execution.map("model");
  const name = model.code("default") ?? execution.code("model");
  w.bullet(md`Model: ${name}`);
  w.bullet(md`Allowed models: ${listed(model.codes("allowed"))}`);
  w.bullet(md`Time limit: ${duration(execution.number("timeout"))}`);
  w.bullet(retries(execution.number("max_retries"), () => execution.number("retry_delay")));
}

function writeOverrides(w: MarkdownWriter, overrides: Fields): void {
  w.bullet(md`Here a score of ${overrides.number("threshold")} or more passes`);
  w.bullet(md`Here the time limit is ${duration(overrides.number("timeout"))}`);
  w.bullet(md`Temperature: ${overrides.number("temperature")}`);
}

function writeRepeat(w: MarkdownWriter, iteration: Fields): void {
  const target = iteration.raw("target_agent") ?? null;
  const agent = target === null ? null : readReference(target, "command.iteration.target_agent");
  w.bullet(md`Repeat until the score is ${iteration.number("exit_threshold")} or more`);
  w.bullet(md`Make ${plural(iteration.number("max_attempts"), "attempt")} at most`);
  w.bullet(md`In each round, call the agent ${agent}`);
  if (iteration.flag("fix_patterns") === true) {
    w.bullet(md`Between rounds, fix what was found, and the same fault wherever else it occurs`);
  }
}

function writeAfterwards(w: MarkdownWriter, postflight: Fields): void {
  for (const [index, step] of postflight.entries("steps", "action").entries()) writeStep(w, step, index + 1);
  const outcomes = postflight.keys().filter((key) => key.startsWith("on_"));
  writeOutcomes(w, postflight, outcomes);
}

const ACTIONS: Readonly<Record<string, Inline>> = {
  persist_to_tracker: md`Save the result in the tracker`,
  verify_saved: md`Check that the result was saved`,
  present_summary: md`Show the summary`,
};

const FAILURES: Readonly<Record<string, Inline>> = {
  block: md`stop`,
  warn: md`warn and go on`,
  ignore: md`go on`,
};

function writeStep(w: MarkdownWriter, step: Fields, number: number): void {
  const action = step.text("action") ?? "";
  const command = step.text("command");
  const isScript = command !== null && isMultiLine(command);
  const inline = isScript ? md`the command below` : code(command);
  const said = action === "custom_command" ? null : (step.known("action", ACTIONS) ?? step.passage("action"));
  const run = md`Run ${inline}`;
  const what = said ?? run ?? step.passage("action", "name") ?? md`Continue`;
  const optional = step.flag("required") === false ? md` (optional)` : md``;
  w.numbered(number, md`${what}${optional}.`, () => {
    if (isScript) w.fence(command, "sh");
    else if (said && inline !== null) w.bullet(md`Command: ${inline}`);
    w.bullet(md`Message: ${step.passage("message")}`);
    const reaction = step.known("on_failure", FAILURES) ?? step.code("on_failure");
    w.bullet(md`If that fails, ${reaction}`);
    writeLeftoverBullets(w, step);
  });
}

function writeRecord(w: MarkdownWriter, tracking: Fields): void {
  if (tracking.flag("enabled") === false || tracking.text("variant") === "none") {
    tracking.discard();
    return;
  }
  if (tracking.flag("required") === true)
    w.paragraph(md`Save the result before you show it. What could not be saved is not shown.`);
  else w.paragraph(md`Save the result, and show it even when saving fails.`);
  w.bullet(md`Saved by way of: ${tracking.code("variant")}`);
  w.bullet(md`Own way of saving: ${tracking.code("custom")}`);
}

const FORMATS: Readonly<Record<string, Inline>> = {
  structured: md`Answer with structured data.`,
  summary: md`Answer with a short summary.`,
  minimal: md`Answer with the outcome alone.`,
};

function writeReport(w: MarkdownWriter, output: Fields): void {
  w.paragraph(
    output.known("format", FORMATS) ?? sentence(md`Format of the answer: ${output.prose("format")}`),
  );
  w.paragraph(md`The answer follows the schema ${output.code("schema")}.`);
}
