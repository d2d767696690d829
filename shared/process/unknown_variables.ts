/** Finds environment variables that look like misspelled ones of ours. */
import { suggestNames } from "../suggestions.ts";
import { Environment } from "./config_variables.ts";
import { FILE_VARIABLES, type VariableValues } from "./variable_files.ts";

/** First words that other programs use, too. */
const SHARED_WORDS = new Set(["AWS", "OTEL"]);
/** What desktops, users of `psql` and Kubernetes (for each service of a namespace) set. */
const SET_BY_OTHERS =
  /^SESSION_MANAGER$|^PG[A-Z]+$|_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;
/** Minimum similarity of a misspelling without one of our prefixes, such as `DATABSE_URL`. */
const TYPO_SIMILARITY = 0.75;
/** Minimum similarity of a suggestion: names with one prefix have this much in common. */
const SUGGESTION_SIMILARITY = 0.6;

/** Returns one line for each variable of `env` that resembles ours in its first word or as a whole but is not one of them. */
export function describeUnknownVariables(env: VariableValues): string[] {
  const known = new Set([...Object.keys(Environment.properties), ...FILE_VARIABLES.map((n) => `${n}_FILE`)]);
  const own = [...known].filter((name) => !SHARED_WORDS.has(firstWord(name)));
  const prefixes = new Set(own.filter((name) => name.includes("_")).map(firstWord));
  const lines: string[] = [];
  for (const name of Object.keys(env).toSorted()) {
    if (known.has(name) || !env[name]?.trim() || isOfOthers(name, own)) continue;
    const hasPrefix = name.includes("_") && prefixes.has(firstWord(name));
    const minSimilarity = hasPrefix ? SUGGESTION_SIMILARITY : TYPO_SIMILARITY;
    const [suggestion] = suggestNames(name, own, { minSimilarity });
    if (!hasPrefix && suggestion === undefined) continue;
    const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
    lines.push(`${name}: unknown variable, ignored.${hint}`);
  }
  return lines;
}

function isOfOthers(name: string, own: readonly string[]): boolean {
  if (SHARED_WORDS.has(firstWord(name)) || SET_BY_OTHERS.test(name)) return true;
  // An additional first word, as in TEST_DATABASE_URL, is not a typo.
  return own.some((ours) => ours.includes("_") && name.endsWith(`_${ours}`));
}

function firstWord(name: string): string {
  return name.split("_", 1)[0] ?? "";
}
