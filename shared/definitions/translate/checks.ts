/** Writes the checks before and after the work, and detectors. Each kind of check has one clause. */
import type { Fields } from "./field_reader.ts";
import { isMultiLine, writeLeftoverBullets } from "./generic_section.ts";
import { code, type Inline, join, listed, md, type Prose } from "./inline.ts";
import type { Source } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { TranslationFailure } from "./translation_failure.ts";

/** A condition, as the end of a sentence that starts with "check that" or "is true when". */
export interface Clause {
  text: Inline;
  /** A command of several lines, shown below the sentence. */
  script: string | null;
}

const CLAUSES: Readonly<Record<string, (check: Fields) => Inline | Clause>> = {
  path_exists: (check) => exists(md`the path`, check),
  file_exists: (check) => exists(md`the file`, check),
  dir_exists: (check) => exists(md`the directory`, check),
  git_clean: () => md`Git reports no uncommitted changes`,
  env_var: (check) =>
    md`the environment variable ${check.code("name", "env", "variable") ?? md`named below`} is set`,
  command: describeCommand,
  grep: describeSearch,
  find: (check) => {
    const pattern = check.code("pattern") ?? md`any name`;
    return md`there is a file named ${pattern}${place(check)}${filters(check)}${minimum(check)}`;
  },
  json_field: (check) => describeField(md`JSON`, check),
  yaml_field: (check) => describeField(md`YAML`, check),
};

/** Returns the clause of a check. Fails with `unknown_kind` for an unknown kind. */
export function readClause(check: Fields): Clause {
  const describe = check.known("check", CLAUSES);
  if (!describe) {
    const message = `The kind of check must be one of ${Object.keys(CLAUSES).join(", ")}`;
    throw new TranslationFailure("unknown_kind", `${check.path}.check`, message);
  }
  const clause = describe(check);
  return typeof clause === "string" ? { text: clause, script: null } : clause;
}

/** Returns the items of `checks`. Fails with `unknown_kind` if the value is not a list, because it may be a single check. */
export function readChecks(block: Fields, key: string): Fields[] {
  if (!Array.isArray(block.peek(key) ?? [])) {
    throw new TranslationFailure("unknown_kind", `${block.path}.${key}`, "The checks must be a list");
  }
  return block.entries(key, "check");
}

/** Writes numbered checks with the consequences of their failure. */
export function writeChecks(w: MarkdownWriter, checks: readonly Fields[]): void {
  for (const [index, check] of checks.entries()) {
    const { text, script } = readClause(check);
    check.skip("id");
    w.numbered(index + 1, md`Check that ${text}.`, () => {
      w.fence(script, "sh");
      w.bullet(describeConsequence(check));
      writeLeftoverBullets(w, check);
    });
  }
}

/** Writes a preflight that is a list. Such a list contains only checks. */
export function writePreflightList(w: MarkdownWriter, { body }: Source): void {
  w.heading(2, md`Before you start`);
  if (Array.isArray(body.peek("preflight"))) writeChecks(w, readChecks(body, "preflight"));
}

const CONSEQUENCES: Readonly<Record<string, Inline>> = {
  abort: md`stop`,
  stop: md`stop`,
  warn: md`warn and go on`,
  skip: md`skip what needs it and go on`,
};

/** Returns the consequence of a failed check. A check that is not required warns by default. */
function describeConsequence(check: Fields): Prose {
  const isRequired = check.flag("required") !== false;
  const named = check.text("on_fail", "on_mismatch") ?? (isRequired ? "abort" : "warn");
  const consequence = Object.hasOwn(CONSEQUENCES, named) ? CONSEQUENCES[named] : code(named);
  const message = md`, with the message: ${check.passage("message")}` ?? md``;
  return md`Otherwise ${consequence ?? md`stop`}${message}`;
}

function exists(kind: Inline, check: Fields): Inline {
  return md`${kind} ${check.code("path", "pattern") ?? md`named below`} exists`;
}

function describeCommand(check: Fields): Clause {
  const command = check.text("command") ?? "";
  const isScript = isMultiLine(command);
  const subject = isScript ? md`the command below` : (code(command) ?? md`the command`);
  return { text: md`${subject} ${describeExpectation(check)}`, script: isScript ? command : null };
}

function describeExpectation(check: Fields): Inline {
  if (check.flag("expect_empty") === true) return md`prints nothing`;
  // Not `flag`, because a word such as "yes" is the text that the command must print.
  const expected = check.peek("expect_output");
  if (typeof expected === "boolean") {
    check.skip("expect_output");
    return expected ? md`prints something` : md`prints nothing`;
  }
  const text = check.code("expect_output", "expect");
  if (text !== null) return md`prints ${text}`;
  return isBlankText(expected) || isBlankText(check.peek("expect")) ? md`prints nothing` : md`succeeds`;
}

function describeSearch(check: Fields): Inline {
  const pattern = check.code("pattern") ?? md`the pattern below`;
  return md`${pattern} is found in the files${place(check)}${filters(check)}${minimum(check)}`;
}

function describeField(format: Inline, check: Fields): Inline {
  const field = check.code("field", "name") ?? md`named below`;
  const file = md` of ${check.code("path")}` ?? md``;
  const value = check.code("expect");
  const blank = isBlankText(check.peek("expect")) ? md`empty` : md`there`;
  return md`the ${format} field ${field}${file} is ${value ?? blank}`;
}

/** Returns true for a blank text. It is an expectation, but a missing text is not. */
function isBlankText(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

function place(check: Fields): Inline {
  return md` under ${check.code("path")}` ?? md``;
}

function filters(check: Fields): Inline {
  const include = md`, only in ${listed(check.codes("include"), "or")}`;
  const exclude = md`, but not in ${listed(check.codes("exclude"), "or")}`;
  return join([include, exclude], "") ?? md``;
}

function minimum(check: Fields): Inline {
  return md`, at least ${check.number("min_matches")} times` ?? md``;
}
