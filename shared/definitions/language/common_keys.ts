/** Keys that several languages share. */
import { DEFINITION_DOMAINS } from "../../vocabulary.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Key,
  type Keys,
  names,
  numberKey,
  proseKey,
  textKey,
  textsKey,
  wordKey,
} from "./keys.ts";

/** Keys of every `interface`. */
export function interfaceKeys(noun: string): Keys {
  return {
    name: textKey("Its name: lowercase letters, digits and hyphens", `my-${noun}`, { isRequired: true }),
    version: textKey("MAJOR.MINOR.PATCH, in quotes", '"1.0.0"', { isRequired: true }),
    displayName: textKey("The name that people read; made from the name if it is missing", titleOf(noun)),
    description: proseKey(
      `What the ${noun} does and when to use it, in 20 to 1,024 characters`,
      `One sentence that says what the ${noun} does and when to use it.`,
      { isRequired: true },
    ),
    domain: wordKey("Its field; `general` if it is missing", DEFINITION_DOMAINS),
    subdomain: textKey("A narrower field, in your own words", "code-review"),
    tags: textsKey("Words to find it by, at most 50", "[review, tests]"),
    author: textKey("Who wrote it", "Ada Lovelace"),
  };
}

function titleOf(noun: string): string {
  return `My ${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
}

export const META = free("Your own notes, which are not rendered", "{reviewed: 2026-01-15}");

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

/** What a check looks at. */
const LOOK: Keys = {
  check: wordKey("The kind of check", CHECK_KINDS, { isRequired: true }),
  path: textKey("A file or folder, for most kinds", "src/index.ts"),
  pattern: textKey("What `grep` and `find` look for", "TODO"),
  include: textsKey("Only files with these names", '["*.ts"]'),
  exclude: textsKey("No files with these names", '["*.test.ts"]'),
  min_matches: integerKey("How often the pattern has to occur", 1),
  command: textKey("A shell command, for `command`", "git status --porcelain"),
  expect_output: textKey("The output of the command; true for any, false for none", "ready", {
    or: ["boolean"],
  }),
  expect_empty: flagKey("The command has to print nothing"),
  field: textKey("The field that `json_field` and `yaml_field` read", "version"),
  expect: textKey("The value that the field or the output has to have", "2.0.0"),
  name: textKey("A variable for `env_var`, or a field", "CI"),
  env: textKey("The same as `name`, for `env_var`", "CI"),
  variable: textKey("The same as `name`, for `env_var`", "CI"),
  id: textKey("Its id", "has-tests"),
};

/** Checks before or after the work. */
export function checks(meaning: string): Key {
  const keys: Keys = {
    ...LOOK,
    required: flagKey("False: only warn if it does not hold"),
    message: proseKey("What to say if it does not hold", "Commit your changes first."),
    on_fail: wordKey("What to do if it does not hold", ["abort", "stop", "warn", "skip"]),
    on_mismatch: wordKey("The same as `on_fail`", ["abort", "stop", "warn", "skip"]),
  };
  return entries(meaning, keys, { main: "check" });
}

/** Conditions that are found out before the work, and used in expressions as `context.<id>`. */
export function detectors(meaning: string): Key {
  return entries(meaning, LOOK, { main: "check" });
}

const GATE_ACTIONS = ["stop", "abort", "warn", "skip", "continue", "skip_remaining"];

/** A score that decides whether the run goes on. */
export const GATE: Keys = {
  threshold: numberKey("The lowest score that passes", 80),
  warn_threshold: numberKey("Below this score, warn", 90),
  aggregate: wordKey("How several scores become one", [
    "min",
    "max",
    "average",
    "weighted_average",
    "all",
    "any",
  ]),
  on_fail: wordKey("What to do below the threshold", GATE_ACTIONS),
  on_failure: wordKey("The same as `on_fail`", GATE_ACTIONS),
  on_warn: wordKey("What to do below `warn_threshold`", GATE_ACTIONS),
  on_success: wordKey("What to do when it is passed", GATE_ACTIONS.toReversed()),
};

/** What is said and returned to the shell for one way in which a run can end. */
export function outcome(meaning: string): Key {
  const keys: Keys = {
    message: textKey("What to say", "Everything passed."),
    exit_code: integerKey("What to return to the shell, 0 to 255", 0),
  };
  return block(meaning, keys, { or: ["text"] });
}

/** Environment variables and their values. */
export function environment(meaning: string): Key {
  return names(textKey("", ""), meaning, '{CI: "true"}');
}
