/** Writes the stages of a pipeline one by one, and the commands that the pipeline itself runs. */
import { STAGE_TYPES } from "../../language/pipeline_keys.ts";
import { describeAfter, type Ordered, writeLevels } from "../dependency_levels.ts";
import { Fields } from "../field_reader.ts";
import { writeGate } from "../gate.ts";
import { isMultiLine, writeAssignments, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { code, type Inline, join, listed, md, type Prose, prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, plural, retries } from "../phrases.ts";
import { readPipelineReference } from "../reference.ts";
import { TranslationFailure } from "../translation_failure.ts";
import { describeArtifact } from "./afterwards.ts";

export interface Pipeline extends Source {
  stages: readonly Ordered[];
  levels: readonly (readonly Ordered[])[];
}

/** Writes the order of the stages, then each stage. Fails with `empty_stage` or `bad_reference`. */
export function writeStages(w: MarkdownWriter, { stages, levels }: Pipeline): void {
  w.heading(2, md`Order`);
  writeLevels(w, levels);
  w.heading(2, md`Stages`);
  for (const stage of stages) writeStage(w, stage, stages);
}

function writeStage(w: MarkdownWriter, stage: Ordered, stages: readonly Ordered[]): void {
  const { fields } = stage;
  const references = readReferences(fields);
  const steps = fields.entries("steps", "command");
  const approval = readApproval(fields);
  if (references.length + steps.length === 0 && approval === null) {
    const message = "The stage has no workflows, commands, agents, steps or approval";
    throw new TranslationFailure("empty_stage", fields.path, message);
  }
  fields.skip("id");
  w.heading(3, md`${stage.number}. ${stage.title}`);
  w.paragraph(fields.passage("description"));
  w.bullet(md`After: ${describeAfter(stage, stages)}`);
  w.bullet(md`Only if ${fields.snippet("condition")}`);
  if (fields.flag("parallel") === true) w.bullet(md`Run the parts of this stage in parallel`);
  if (fields.flag("sequential") === true) w.bullet(md`Run the parts of this stage one after the other`);
  w.bullet(md`Time limit: ${duration(fields.number("timeout"))}`);
  if (approval !== null) writeApproval(w, approval);
  writeAssignments(w, md`Input`, fields.map("inputs"));
  writeAssignments(w, md`Environment variable`, fields.map("env"));
  for (const reference of references) writeReference(w, reference);
  writeGate(w, fields);
  writeProducts(w, fields);
  writeShellSteps(w, steps);
  writeLeftoverBullets(w, fields);
}

/** Reads the approval that a stage requires. `approval: true` means approval by anyone. */
function readApproval(stage: Fields): Fields | Prose | null {
  if (stage.hasMap("approval")) return stage.map("approval");
  const isNeeded = stage.flag("approval");
  if (isNeeded !== null) return isNeeded ? md`from anybody` : null;
  return stage.passage("approval");
}

interface Reference {
  text: Inline;
  /** The other fields of the entry; `null` for a reference that is plain text. */
  fields: Fields | null;
}

const KINDS = { workflows: md`workflow`, commands: md`command`, agents: md`agent` } as const;

function readReferences(stage: Fields): Reference[] {
  const listed = Object.entries(KINDS).flatMap(([key, kind]) => {
    return stage.entries(key, "ref").map((entry) => {
      const reference = readPipelineReference(entry.raw("ref"), `${entry.path}.ref`);
      return { text: md`Run the ${kind} ${reference}`, fields: entry };
    });
  });
  const single = stage.raw("ref") ?? null;
  if (single === null) return listed;
  const kind = prose(stage.known("type", STAGE_TYPES)) ?? md`command`;
  const reference = readPipelineReference(single, `${stage.path}.ref`);
  return [{ text: md`Run the ${kind} ${reference}`, fields: null }, ...listed];
}

function writeReference(w: MarkdownWriter, { text, fields }: Reference): void {
  w.bullet(text, () => {
    if (!fields) return;
    w.bullet(md`Model: ${fields.code("model")}`);
    w.bullet(md`Only if ${fields.snippet("condition")}`);
    w.bullet(md`Time limit: ${duration(fields.number("timeout"))}`);
    writeAssignments(w, md`Argument`, fields.map("args"));
    writeLeftoverBullets(w, fields);
  });
}

function writeProducts(w: MarkdownWriter, stage: Fields): void {
  writeEntries(w, stage.entries("outputs", "name"), (output) => {
    const text = join([output.code("name", "id"), output.code("value", "source")], ": ");
    return md`Output ${text}`;
  });
  writeEntries(w, stage.entries("artifacts", "path"), describeArtifact);
  const stages = listed(stage.codes("artifacts_from"));
  w.bullet(md`Uses the artifacts of ${stages}`);
}

const WHEN_TIME_IS_OVER: Readonly<Record<string, Inline>> = {
  reject: md`take it as refused`,
  approve: md`take it as given`,
  extend: md`wait longer`,
  pause: md`pause the run`,
};

function writeApproval(w: MarkdownWriter, approval: Fields | Prose): void {
  if (!(approval instanceof Fields)) {
    w.bullet(md`Approval is needed: ${approval}`);
    return;
  }
  if (approval.flag("required") === false) {
    w.bullet(md`No approval is needed`);
    approval.discard();
    return;
  }
  const isAlways = approval.flag("required") === true;
  const needed = isAlways ? md`` : (md` if ${approval.code("required")}` ?? md``);
  w.bullet(md`Approval is needed before this stage starts${needed}`, () => {
    // Code spans, because some agents read a file if its name follows an at sign in plain text.
    w.bullet(md`From ${listed(approval.codes("approvers"), "or")}`);
    w.bullet(md`At least ${plural(approval.number("min_approvals"), "approval")}`);
    w.bullet(md`Within ${plural(approval.number("timeout_hours"), "hour")}`);
    const action = approval.known("timeout_behavior", WHEN_TIME_IS_OVER) ?? approval.code("timeout_behavior");
    w.bullet(md`When that time is over, ${action}`);
    writeRules(w, approval);
    writeLeftoverBullets(w, approval);
  });
}

function writeRules(w: MarkdownWriter, approval: Fields): void {
  const self = approval.flag("allow_self_approval");
  if (self === true) w.bullet(md`People may approve what they started themselves`);
  if (self === false) w.bullet(md`Nobody approves what they started themselves`);
  if (approval.flag("auto_reject_on_change") === true)
    w.bullet(md`A change made meanwhile counts as a refusal`);
  w.bullet(md`Not needed for ${listed(approval.codes("skip_for"), "or")}`);
}

export function writeShellSteps(w: MarkdownWriter, steps: readonly Fields[]): void {
  for (const [index, step] of steps.entries()) writeShellStep(w, step, index + 1);
}

function writeShellStep(w: MarkdownWriter, step: Fields, number: number): void {
  step.skip("id");
  const name = step.strong("name") ?? step.strong("description") ?? md`**Step ${number}**`;
  const command = step.text("command", "run");
  const isScript = command !== null && isMultiLine(command);
  const inline = isScript ? null : code(command);
  w.numbered(number, isScript ? md`${name}:` : join([name, inline], ": "), () => {
    if (isScript) w.fence(command, "sh");
    w.bullet(step.passage("description"));
    w.bullet(md`In the directory ${step.code("working_dir")}`);
    writeAssignments(w, md`Environment variable`, step.map("env"));
    w.bullet(md`Time limit: ${duration(step.number("timeout"))}`);
    if (step.flag("always_run") === true) w.bullet(md`Run it even when something before it failed`);
    if (step.flag("continue_on_error") === true) w.bullet(md`Go on when it fails`);
    w.bullet(retries(step.number("retries"), () => step.number("retry_delay")));
    if (step.flag("expect_empty") === true) w.bullet(md`It must print nothing`);
    w.bullet(md`Its output must match ${step.code("expect_match")}`);
    writeLeftoverBullets(w, step);
  });
}
