/** The safety scan: searches every text of a definition for evidence of misuse. */
import type { DefinitionSource } from "../../shared/definitions/parse_definition.ts";
import { isRecord, toList, toRecord } from "../../shared/plain_values.ts";
import { formatPath, type PathStep } from "../../shared/yaml/problems.ts";
import { scalarNumber } from "../../shared/yaml/scalars.ts";
import { listNamedTools } from "./named_models_and_tools.ts";
import {
  BLOCK_RULES,
  REMOTE_SCRIPT,
  type SafetyRule,
  SEQUENCE_RULES,
  type SequenceRule,
  type SignalSeverity,
  TEXT_RULES,
  type TextRule,
  WARNING_PATHS,
} from "./safety_rules.ts";
import { foldText } from "./safety_text.ts";

/** Increase this version whenever the results of the scan change. */
export const SAFETY_SCAN_VERSION = "2.2.1";

/** A finding of the scan. */
interface SafetySignal {
  id: string;
  severity: SignalSeverity;
  title: string;
  /** The evidence, with invisible characters as code points. */
  detail: string;
  /** The path in the document, such as `command.preflight.checks[0].command`. */
  location: string;
}

/** The capabilities of a definition, without judgment. */
interface Capabilities {
  tools: string[];
  /** Number of shell commands that run before the work begins. */
  preflightCommands: number;
  maxTokens?: number;
  temperature?: number;
  agentType?: string;
}

export interface SafetyScan {
  version: string;
  capabilities: Capabilities;
  signals: SafetySignal[];
  /** The severity of the worst signal. */
  riskLevel: "none" | SignalSeverity;
}

/** Maximum signals of a scan. Further signals are dropped. */
const MAX_SIGNALS = 100;
const MAX_EXCERPT_LENGTH = 120;

/**
 * Scans a definition. The result depends only on the document and SAFETY_SCAN_VERSION. Calls `onRead` with the length of each
 * text that a rule reads.
 */
export function scanDefinition(
  source: Pick<DefinitionSource, "type" | "root" | "body" | "fields">,
  onRead: (characters: number) => void = () => {},
): SafetyScan {
  const signals: SafetySignal[] = [];
  scanValue(source.root, { path: [], isWarning: false, signals, downloads: new Set(), onRead });
  const isHigh = signals.some(({ severity }) => severity === "high");
  const riskLevel = isHigh ? "high" : signals.length > 0 ? "medium" : "none";
  return { version: SAFETY_SCAN_VERSION, capabilities: listCapabilities(source), signals, riskLevel };
}

interface Place {
  path: readonly PathStep[];
  /** True below one of the `WARNING_PATHS`. */
  isWarning: boolean;
  signals: SafetySignal[];
  /** Names of files that earlier texts of the document download. */
  downloads: Set<string>;
  onRead: (characters: number) => void;
}

function scanValue(value: unknown, place: Place): void {
  if (typeof value === "string") scanText(value, place);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) scanValue(item, { ...place, path: [...place.path, index] });
    scanList(value, place);
  } else if (isRecord(value)) scanBlock(value, place);
}

function scanBlock(block: Record<string, unknown>, place: Place): void {
  for (const rule of BLOCK_RULES) {
    const key = rule.find(block);
    if (key !== null) addSignal(rule, `${key}: ${block[key]}`, { ...place, path: [...place.path, key] });
  }
  for (const [key, value] of Object.entries(block)) {
    const path = [...place.path, key];
    const inside = { ...place, path, isWarning: place.isWarning || isWarningPath(path) };
    scanText(key, inside);
    scanValue(value, inside);
  }
}

function isWarningPath(path: readonly PathStep[]): boolean {
  return WARNING_PATHS.some(
    (steps) =>
      steps.length === path.length &&
      steps.every((step, index) => (step === "*" ? typeof path[index] === "number" : step === path[index])),
  );
}

/** Scans a list as one text, because a command may be split into items. Findings of a single item are not repeated. */
function scanList(list: readonly unknown[], place: Place): void {
  const texts = list.filter((item) => typeof item === "string");
  if (texts.length < 2) return;
  const known = new Set(
    place.signals
      .filter(({ location }) => location.startsWith(`${formatPath(place.path)}[`))
      .map(({ id }) => id),
  );
  const joined = { ...place, signals: [] as SafetySignal[] };
  scanText(texts.join(" "), joined, { isJoined: true });
  for (const { id, severity, title, detail } of joined.signals) {
    if (!known.has(id)) addSignal({ id, severity, title }, detail, place);
  }
}

/**
 * Adds the signals of a text, in the order of the rules. A joined list is checked only for the sequence rule `REMOTE_SCRIPT`,
 * which stays within one command line. The items of other lists are separate sentences.
 */
function scanText(written: string, place: Place, { isJoined } = { isJoined: false }): void {
  const text = foldText(written);
  const found = new Map<SafetyRule["id"], [SafetyRule, string]>();
  const keep = (rule: SafetyRule, evidence: string | null) => {
    place.onRead(text.length);
    if (evidence !== null && !found.has(rule.id)) found.set(rule.id, [rule, evidence]);
  };
  const textRules = place.isWarning ? TEXT_RULES.filter((rule) => rule.findsWarnings) : TEXT_RULES;
  for (const rule of textRules) keep(rule, findEvidence(rule.readsAsWritten ? written : text, rule));
  for (const rule of place.isWarning ? [] : SEQUENCE_RULES) {
    if (!isJoined || rule.id === REMOTE_SCRIPT.id) keep(rule, findSequence(text, rule));
  }
  if (!isJoined && !place.isWarning) keep(REMOTE_SCRIPT, findDownloadRun(text, place.downloads));
  for (const [rule, evidence] of found.values()) addSignal(rule, evidence, place);
}

/** Returns the first match of a rule in the text, or null. */
function findEvidence(text: string, rule: TextRule): string | null {
  for (const pattern of rule.patterns) {
    // Few texts match, and search() is several times cheaper than matchAll().
    if (text.search(pattern) < 0) continue;
    for (const match of text.matchAll(pattern)) {
      if (rule.findsWarnings || !isForbidden(text, match.index)) return match[0];
    }
  }
  return null;
}

/** Returns the evidence from the first piece in which `second` follows `first`, or null. */
function findSequence(text: string, { pieces, first, second }: SequenceRule): string | null {
  for (const piece of pieces(text)) {
    if (piece.search(first) < 0) continue;
    const last = [...piece.matchAll(second)].at(-1);
    if (!last) continue;
    for (const { index } of piece.matchAll(first)) {
      if (index < last.index && !isForbidden(piece, index))
        return piece.slice(index, last.index + last[0].length);
    }
  }
  return null;
}

/** Matches `Never`, `Do not` and similar words directly before a match. Longer text in between may change the meaning. */
const FORBIDS =
  /\b(?:never|do not|don['’]t|must not|may not|cannot|should not|shall not|refuse to|avoid)\s+(?:ever\s+)?(?:\w+,?\s+or\s+)?["'`]?$/i;

function isForbidden(text: string, at: number): boolean {
  return FORBIDS.test(text.slice(Math.max(0, at - 60), at));
}

function addSignal(rule: SafetyRule, found: string, { path, signals }: Place): void {
  if (signals.length >= MAX_SIGNALS) return;
  const { id, severity, title } = rule;
  signals.push({ id, severity, title, detail: excerpt(found), location: formatPath(path) });
}

function excerpt(found: string): string {
  const line = found.trim().replace(/\s+/g, " ");
  const half = MAX_EXCERPT_LENGTH / 2;
  const short =
    line.length > MAX_EXCERPT_LENGTH ? `${line.slice(0, half)} … ${line.slice(-half)}`.toWellFormed() : line;
  return short.replace(/\p{Default_Ignorable_Code_Point}|[\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

function listCapabilities(source: Pick<DefinitionSource, "type" | "body" | "fields">): Capabilities {
  const { body, fields } = source;
  const { max_tokens, temperature: agentTemperature } = toRecord(body["defaults"]);
  const maxTokens = scalarNumber(max_tokens);
  const temperature = scalarNumber(toRecord(body["overrides"])["temperature"] ?? agentTemperature);
  return {
    tools: listNamedTools(source).map(({ text }) => text),
    preflightCommands: countCommands(body["preflight"]),
    ...(maxTokens === null ? {} : { maxTokens }),
    ...(temperature === null ? {} : { temperature }),
    ...(fields.agentType === null ? {} : { agentType: fields.agentType }),
  };
}

function countCommands(preflight: unknown): number {
  const { checks, extraction } = toRecord(preflight);
  return [...toList(checks), ...toList(extraction)].filter(
    (step) => typeof toRecord(step)["command"] === "string",
  ).length;
}

const FETCH_LINE = /\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b([^\n]*)/gi;
/** Matches the output file in a download command. */
const TARGET =
  /(?:\s-o\s*|\s--output[=\s]\s*|\s-O\s*|\s--output-document[=\s]\s*|-OutFile\s+|>\s*)["']?([^\s"';|&)]+)/gi;
/** Matches the file name in a URL, the default name of the output file. */
const URL_NAME = /\b(?:https?|ftp):\/\/[^\s"';|&)]*\/([^\s"'/;|&)?#]+)/gi;
const INTERPRETED = String.raw`(?:^|[\s;&|(\x60"'])(?:(?:ba|z|da|k|fi)?sh|source|python\d?|perl|ruby|node|php|chmod\s+\S+)\s+(?:-\S+\s+)*`;
/** Matches the text before a path that is run. Stays on one line, because matching across lines would be quadratic. */
const CALLED = String.raw`(?:^|[;&|(\x60]|\b(?:then|run|execute|start|sudo|exec|nohup)\s)[ \t]*(?:\.\s+|(?=["']?(?:\.{0,2}|~)/))`;
/** Matches a file that is run by an interpreter or by its path, or that chmod makes executable. */
const RUN = new RegExp(String.raw`(?:${INTERPRETED}|${CALLED})["']?([^\s"'\x60;|&()]+)`, "gim");

/**
 * Adds the names of the files that a text downloads to `downloads`. Returns the first command of the text that runs an earlier
 * download, at any distance, or null. Call it for the texts of a document in order.
 */
function findDownloadRun(text: string, downloads: Set<string>): string | null {
  const steps = [...fetched(text), ...ran(text)].toSorted((a, b) => a.at - b.at);
  for (const { at, name, evidence } of steps) {
    if (evidence === null) downloads.add(name);
    else if (downloads.has(name) && !isForbidden(text, at)) return evidence;
  }
  return null;
}

interface Step {
  at: number;
  /** The base name, because the file may be run by another path. */
  name: string;
  /** The command that runs the file; null for a download. */
  evidence: string | null;
}

function fetched(text: string): Step[] {
  const lines = [...text.replace(/\\\r?\n/g, "  ").matchAll(FETCH_LINE)];
  return lines.flatMap(({ index, 1: rest = "" }) =>
    [...rest.matchAll(TARGET), ...rest.matchAll(URL_NAME)].flatMap(({ 1: path = "" }) => {
      const name = baseName(path);
      return name === "" || name === "-" ? [] : [{ at: index, name, evidence: null }];
    }),
  );
}

function ran(text: string): Step[] {
  return [...text.matchAll(RUN)].map(({ index, 0: evidence, 1: path = "" }) => {
    return { at: index, name: baseName(path), evidence };
  });
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/(?<![.,:)])[.,:)]+$/, "");
}
