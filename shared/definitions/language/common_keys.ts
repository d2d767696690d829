/** Keys that several languages share. */
import { DEFINITION_DOMAINS, type DefinitionType } from "../../vocabulary.ts";
import { titleCase } from "../interface_fields.ts";
import { type Key, type Keys, key } from "./keys.ts";

/** Returns the block `interface`, with the keys that all languages share and the given additional keys. */
export function interfaceBlock(noun: DefinitionType, more: Keys = {}): Key {
  const keys: Keys = {
    name: key.text("Its name: lowercase letters, digits and hyphens", `my-${noun}`, { isRequired: true }),
    version: key.text("MAJOR.MINOR.PATCH, in quotes", '"1.0.0"', { isRequired: true }),
    displayName: key.text(
      "The name that people read; made from the name if it is missing",
      `My ${titleCase(noun)}`,
    ),
    description: key.prose(
      `What the ${noun} does and when to use it, in 20 to 1,024 characters`,
      `One sentence that says what the ${noun} does and when to use it.`,
      { isRequired: true },
    ),
    domain: key.word("Its field; `general` if it is missing", DEFINITION_DOMAINS),
    subdomain: key.text("A narrower field, in your own words", "code-review"),
    tags: key.texts("Words to find it by, at most 50", "[review, tests]"),
    author: key.text("Who wrote it", "Ada Lovelace"),
    ...more,
  };
  return key.block(`What identifies the ${noun}`, keys, { isRequired: true });
}

export const META = key.free("Your own notes, which are not rendered", "{reviewed: 2026-01-15}");

export const TIMEOUT_MS = "Time limit in milliseconds";

const CHECK_KINDS = [
  "path_exists",
  "file_exists",
  "dir_exists",
  "git_clean",
  "env_var",
  "command",
  "grep",
  "find",
  "json_field",
  "yaml_field",
] as const;

/** The keys that describe a check. */
const LOOK: Keys = {
  check: key.word("The kind of check", CHECK_KINDS, { isRequired: true }),
  path: key.text("A file or folder, for most kinds", "src/index.ts"),
  pattern: key.text("What `grep` and `find` look for", "TODO"),
  include: key.texts("Only files with these names", '["*.ts"]'),
  exclude: key.texts("No files with these names", '["*.test.ts"]'),
  min_matches: key.integer("How often the pattern has to occur", 1),
  command: key.text("A shell command, for `command`", "git status --porcelain"),
  expect_output: key.text(
    "The output of the command; true for any, false or an empty text for none",
    "ready",
    { or: ["boolean"] },
  ),
  expect_empty: key.flag("The command has to print nothing"),
  field: key.text("The field that `json_field` and `yaml_field` read", "version"),
  expect: key.text("The value that the field or the output has to have", "2.0.0"),
  name: key.text("A variable for `env_var`, or a field", "CI"),
  env: key.text("The same as `name`, for `env_var`", "CI"),
  variable: key.text("The same as `name`, for `env_var`", "CI"),
  id: key.text("Its id", "has-tests"),
};

/** Returns a list of checks that run before or after the work. */
export function checks(meaning: string): Key {
  const keys: Keys = {
    ...LOOK,
    required: key.flag("False: only warn if it does not hold"),
    message: key.prose("What to say if it does not hold", "Commit your changes first."),
    "on_fail, on_mismatch": key.word("What to do if it does not hold", ["abort", "stop", "warn", "skip"]),
  };
  return key.entries(meaning, "check", keys);
}

/** Returns a list of conditions that are evaluated before the work. Expressions refer to them as `context.<id>`. */
export function detectors(meaning: string): Key {
  return key.entries(meaning, "check", LOOK);
}

const GATE_ACTIONS = ["stop", "abort", "warn", "skip", "continue", "skip_remaining"];

/** The keys of a gate, which continues or stops a run depending on its score. */
export const GATE: Keys = {
  threshold: key.number("The lowest score that passes", 80),
  warn_threshold: key.number("Below this score, warn", 90),
  aggregate: key.word("How several scores become one", [
    "min",
    "max",
    "average",
    "weighted_average",
    "all",
    "any",
  ]),
  "on_fail, on_failure": key.word("What to do below the threshold", GATE_ACTIONS),
  on_warn: key.word("What to do below `warn_threshold`", GATE_ACTIONS),
  on_success: key.word("What to do when it is passed", GATE_ACTIONS.toReversed()),
};

/** Returns a block with the message and exit code of one outcome of a run. */
export function outcome(meaning: string): Key {
  const keys: Keys = {
    message: key.text("What to say", "Everything passed."),
    exit_code: key.integer("What to return to the shell, 0 to 255", 0),
  };
  return key.block(meaning, keys, { or: ["text"] });
}

/** Returns a map of environment variables to their values. */
export function environment(meaning: string): Key {
  return key.names(key.text(), meaning, '{CI: "true"}');
}
