/** Where the agent works and what it can look at. */
import type { Fields } from "../field_reader.ts";
import {
  writeAssignments,
  writeCommand,
  writeEntries,
  writeLeftoverBullets,
  writeLeftovers,
} from "../generic_section.ts";
import { given, type Inline, join, listed, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { modelAlias } from "../model_alias.ts";
import type { Agent } from "./agent_source.ts";
import { hostTools } from "./front_matter_tools.ts";

const WHEN_TIME_RUNS_OUT: Readonly<Record<string, Inline>> = {
  fail: md`When time runs out, stop and report a failure.`,
  warn: md`When time runs out, deliver what you have and warn that it is incomplete.`,
  continue: md`When time runs out, carry on with what you have.`,
};

export function writeSetting(w: MarkdownWriter, agent: Agent): void {
  const context = agent.body.map("context");
  w.heading(2, md`Setting`);
  w.bullet(given(context?.code("working_directory") ?? null, (path) => md`Working directory: ${path}`));
  w.bullet(given(context?.code("shell") ?? null, (shell) => md`Shell: ${shell}`));
  writeAssignments(w, md`Environment variable`, context?.map("environment") ?? null);
  w.bullet(given(context ?? null, describeTimeout));
  w.bullet(given(namedModel(agent), (model) => md`Model: ${model}`));
  w.bullet(
    given(
      listed(hostTools(agent)),
      (tools) => md`You also need ${tools}; the host you run in knows under which tool name.`,
    ),
  );
  if (!context) return;
  for (const source of context.entries("data_sources", "name")) writeDataSource(w, source);
  writeLeftovers(w, context);
}

/** A model that the host has no word for, so that the front matter lacks it. */
function namedModel(agent: Agent): Inline | null {
  const defaults = agent.body.map("defaults");
  return modelAlias(defaults?.peek("model")) === null ? (defaults?.code("model") ?? null) : null;
}

function describeTimeout(context: Fields): Inline | null {
  const known = context.known("timeout_behavior", WHEN_TIME_RUNS_OUT);
  return known ?? given(context.prose("timeout_behavior"), (text) => md`When time runs out: ${text}`);
}

function writeDataSource(w: MarkdownWriter, source: Fields): void {
  w.heading(3, source.prose("name", "id") ?? md`Data source`);
  w.paragraph(source.passage("description"));
  const describeTool = (tool: Fields) =>
    join([tool.code("name"), tool.passage("purpose", "description")], ": ");
  writeEntries(w, source.entries("tools", "name"), describeTool, {
    writeBelow: (tool) => w.bullet(given(tool.snippet("usage"), (usage) => md`Usage: ${usage}`)),
  });
  for (const entry of source.entries("commands", "command")) {
    const command = entry.text("command");
    const purpose = entry.passage("purpose", "description") ?? md`Command`;
    writeCommand(w, purpose, command, () => writeLeftoverBullets(w, entry));
  }
  writeLeftoverBullets(w, source);
  w.unlessWritten(md`Use it where it helps.`);
}
