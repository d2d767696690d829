/** Writes the format of the agent's response. */
import { isRecord } from "../../../plain_values.ts";
import { scalarFlag, scalarNumber } from "../../../yaml/scalars.ts";
import type { Fields } from "../field_reader.ts";
import { code, type Inline, join, listed, md, sentence } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

const FORMATS: Readonly<Record<string, Inline>> = {
  markdown: md`Answer in Markdown.`,
  json: md`Answer in JSON, with nothing around it.`,
  html: md`Answer in HTML.`,
  structured: md`Answer with structured data.`,
};

export function writeAgentReport(w: MarkdownWriter, output: Fields): void {
  const format =
    output.known("format", FORMATS) ?? sentence(md`Format of the answer: ${output.prose("format")}`);
  w.paragraph(join([format, describeLength(output.map("token_budget"))], " "));
  w.paragraph(output.map("token_budget").passage("guidance"));
  writeSchema(w, output);
  const sections = listed(output.proses("section_order"));
  w.paragraph(sentence(md`Keep to this order: ${sections}`));
  writeTemplates(w, output);
  for (const example of output.entries("examples", "output")) writeExample(w, example);
  writeMetrics(w, output);
  writeImplications(w, output.map("implications"));
}

function describeLength(budget: Fields): Inline | null {
  const target = budget.number("target");
  const max = budget.number("max");
  const both = md`Aim for about ${target} tokens, and stay below ${max}.`;
  return both ?? md`Aim for about ${target} tokens.` ?? md`Stay below ${max} tokens.`;
}

/** Writes the name of the schema, or the whole schema. */
function writeSchema(w: MarkdownWriter, output: Fields): void {
  w.paragraph(md`The answer follows the schema ${output.code("schema")}.`);
  const schema = output.peek("schema");
  if (!isRecord(schema) || Object.keys(schema).length === 0) return;
  output.skip("schema");
  w.paragraph(md`The answer follows this schema:`);
  w.fence(JSON.stringify(withTypes(schema), null, 2), "json");
}

/** JSON Schema keywords whose value is a number, is or may be a boolean, or has the schema's own type. */
const NUMBER_KEYWORDS = /^(?:minimum|maximum|exclusiveM(?:in|ax)imum|multipleOf|(?:min|max)[A-Z]\w*)$/;
const BOOLEAN_KEYWORDS =
  /^(?:items|uniqueItems|readOnly|writeOnly|deprecated|(?:additional|unevaluated)(?:Items|Properties))$/;
const VALUE_KEYWORDS = new Set(["default", "const", "enum", "examples"]);

/**
 * Converts a schema's numbers and booleans. In documents, `1.0`, `1e3` and `True` are text, but a schema must contain numbers
 * and booleans.
 */
function withTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withTypes);
  if (!isRecord(schema)) return schema;
  const type = String(schema["type"]);
  const entries = Object.entries(schema).map(([key, value]) => {
    const isValue = VALUE_KEYWORDS.has(key);
    if (NUMBER_KEYWORDS.test(key) || (isValue && ["number", "integer"].includes(type))) {
      return [key, convert(value, scalarNumber)];
    }
    const isBoolean = BOOLEAN_KEYWORDS.test(key) || (isValue && type === "boolean");
    return [key, isBoolean ? convert(value, toBoolean) : withTypes(value)];
  });
  return Object.fromEntries(entries);
}

/** Converts a value, or each item of a list. Values that cannot be converted stay unchanged. */
function convert(value: unknown, toScalar: (value: unknown) => number | boolean | null): unknown {
  if (Array.isArray(value)) return value.map((item) => convert(item, toScalar));
  return toScalar(value) ?? withTypes(value);
}

/** Converts the booleans of YAML that are read as text. Returns null for other values. */
function toBoolean(value: unknown): boolean | null {
  return typeof value === "string" && /^(?:True|TRUE|False|FALSE)$/.test(value) ? scalarFlag(value) : null;
}

function writeTemplates(w: MarkdownWriter, output: Fields): void {
  const sections = output.entries("sections", "template");
  if (sections.length > 0) w.paragraph(md`Write these sections, one after the other:`);
  for (const section of sections) {
    const id = section.strong("id", "name") ?? md`**Section**`;
    const condition = md`, only if ${section.code("condition")}` ?? md``;
    const template = section.text("template");
    w.paragraph(template === null ? md`${id}${condition}` : md`${id}${condition}:`);
    w.fence(template, "markdown");
    w.paragraph(section.passage("description"));
  }
  const templates = output.map("templates");
  for (const key of templates.keys()) {
    const template = templates.text(key);
    if (template === null) continue;
    w.paragraph(md`Template ${code(key)}:`);
    w.fence(template, "markdown");
  }
}

function writeExample(w: MarkdownWriter, example: Fields): void {
  const title = md`**Example:** ${example.passage("scenario", "name", "description")}`;
  const input = example.text("input");
  const output = example.text("output");
  w.paragraph(title ?? md`**Example:**`);
  if (input !== null) {
    w.paragraph(md`Given:`);
    w.fence(input);
    w.paragraph(md`Answer:`);
  }
  w.fence(output);
}

const READINGS: Readonly<Record<string, Inline>> = {
  lower_is_better: md`lower is better`,
  higher_is_better: md`higher is better`,
};

function writeMetrics(w: MarkdownWriter, output: Fields): void {
  const metrics = output.map("metrics");
  const rows = metrics.keys().flatMap((key) => {
    if (!metrics.hasMap(key)) return [[code(key), metrics.prose(key)]];
    const metric = metrics.map(key);
    const meaning = join([metric.prose("label"), metric.prose("description")], ": ");
    const reading = metric.known("sentiment", READINGS) ?? metric.prose("sentiment");
    return [[code(key), meaning, metric.prose("type"), reading, metric.code("section")]];
  });
  w.heading(3, md`Metrics`);
  w.table(["Metric", "Meaning", "Type", "Reading", "Section"], rows);
}

function writeImplications(w: MarkdownWriter, implications: Fields): void {
  w.heading(3, md`Implications`);
  w.paragraph(md`Close with a section named “${implications.prose("section_label")}”.`);
  w.paragraph(md`It answers: ${implications.passage("framing_question")}`);
  w.paragraph(md`Its limits: ${implications.passage("scope_boundary")}`);
}
