/** Finds environment variables that look like misspelled variables of the configuration. */
import { suggestNames } from "../suggestions.ts";
import { Environment } from "./config_variables.ts";
import { FILE_VARIABLES, type VariableValues } from "./variable_files.ts";

/** First words of variables that other programs also use. */
const SHARED_WORDS = new Set(["AWS", "OTEL"]);
/** Variables of desktops, users of `psql`, and Kubernetes, which sets some for each service of a namespace. */
const SET_BY_OTHERS =
  /^SESSION_MANAGER$|^PG[A-Z]+$|_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;
/** The minimum similarity of a misspelled variable with an unknown first word, such as `DATABSE_URL`. */
const TYPO_SIMILARITY = 0.75;
/** The minimum similarity of a suggestion. Names with the same first word always have some similarity. */
const SUGGESTION_SIMILARITY = 0.6;

/** Returns one line for each unknown variable of `env` that resembles a known variable, in its first word or as a whole. */
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
  // A variable with an additional first word, such as TEST_DATABASE_URL, is not misspelled.
  return own.some((ours) => ours.includes("_") && name.endsWith(`_${ours}`));
}

function firstWord(name: string): string {
  return name.split("_", 1)[0] ?? "";
}
