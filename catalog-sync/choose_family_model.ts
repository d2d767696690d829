/** Chooses the model that a family name stands for. Pure. */
import type { Model } from "../sql/models/models.ts";

/** Words in ids that do not identify a different model: affixes and providers' names. */
const NEUTRAL = new Set(["it", "instruct", "chat", "latest", "open", "labs", "amazon", "nvidia"]);
const NUMBER = /^[a-z]?\d+$/;
const ACTIVE_PARAMETERS = /^a\d+b$/;
const SIZE = /^(?:\d+x)?\d+[bme]$/;

/** The parts of an id without the name of its family. */
interface IdParts {
  /** The version: `[4, 8]` of claude-opus-4-8. */
  numbers: number[];
  /** An ISO 8601 day; empty if the id has no date. */
  date: string;
  /** The product of all sizes, such as 8 × 22; 0 if the id has no size. */
  size: number;
  /** The words of the variant, such as fast, mini, vision or arabic. */
  words: string[];
}

interface Candidate extends IdParts {
  model: Model;
  isPlain: boolean;
}

/**
 * Returns the model for a family name, or undefined if no model is available. `names` are the names of the family, such as
 * `claude-opus` and `opus`. `today` is an ISO 8601 day.
 *
 * 1. The provider's own `<name>-latest`.
 * 2. A plain model: its id differs from the name only by version and date, and it outputs text only. Of several plain models,
 *    the one with the highest first number, then the newest. The date is the later of the release date and the date in the
 *    id.
 * 3. If the family has variants only: the highest version, then the largest, then the newest.
 *
 * Models with a future release date are excluded. Of equal models, the one with the shorter id is chosen, because dated
 * snapshots have longer ids.
 */
export function chooseFamilyModel(
  names: readonly string[],
  members: readonly Model[],
  today: string,
): Model | undefined {
  const available = members.filter(
    ({ status, releaseDate }) => status === "available" && (releaseDate ?? today) <= today,
  );
  const latest = available.find(({ modelId }) => names.some((name) => modelId === `${name}-latest`));
  if (latest) return latest;
  const candidates = available.map((model): Candidate => {
    const parts = readId(model.modelId, names);
    const writesText = model.outputModalities.every((modality) => modality === "text");
    const idDate = parts.date > today ? "" : parts.date;
    const date = [idDate, model.releaseDate ?? ""].toSorted()[1] ?? "";
    return { ...parts, date, model, isPlain: writesText && parts.words.length === 0 && parts.size === 0 };
  });
  const plain = candidates.filter(({ isPlain }) => isPlain);
  return (plain.length > 0 ? plain.sort(comparePlain) : candidates.sort(compareVariants))[0]?.model;
}

function comparePlain(a: Candidate, b: Candidate): number {
  return (
    compareNumbers(a, b, 0) || compareDates(a, b) || compareNumbers(a, b, 1) || compareIds(a.model, b.model)
  );
}

function compareVariants(a: Candidate, b: Candidate): number {
  return (
    compareNumbers(a, b, 0) ||
    compareNumbers(a, b, 1) ||
    b.size - a.size ||
    compareDates(a, b) ||
    compareIds(a.model, b.model)
  );
}

function compareNumbers(a: IdParts, b: IdParts, position: number): number {
  return (b.numbers[position] ?? 0) - (a.numbers[position] ?? 0);
}

function compareDates(a: IdParts, b: IdParts): number {
  return b.date.localeCompare(a.date);
}

function compareIds({ modelId: a }: Model, { modelId: b }: Model): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

/** Splits an id into version, date, size and words, without the words of the family names. */
export function readId(id: string, names: readonly string[]): IdParts {
  const ownWords = names.flatMap((name) => name.toLowerCase().split(/[^a-z0-9]+/));
  const tokens = id
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((token) => withoutOwnWord(token, ownWords))
    .filter((token) => token !== "" && !NEUTRAL.has(token));
  const parts: IdParts = { numbers: [], date: "", size: 0, words: [] };
  for (const [index, token] of tokens.entries()) {
    const date = readDate(token, tokens[index - 1]);
    if (date !== null) {
      parts.date = date;
      // The month before this year was read as part of the version.
      if (token.length === 4 && date.startsWith(token)) parts.numbers.pop();
    } else if (NUMBER.test(token)) parts.numbers.push(Number(token.replace(/^[a-z]/, "")));
    else if (SIZE.test(token)) parts.size = (parts.size || 1) * readSize(token);
    else if (!ACTIVE_PARAMETERS.test(token)) parts.words.push(token);
  }
  return parts;
}

/** Removes a word of the family name, even if a number follows directly, as in qwen3. */
function withoutOwnWord(token: string, ownWords: readonly string[]): string {
  const own = ownWords.find((word) => word !== "" && new RegExp(`^${word}(?=\\d|$)`).test(token));
  return own === undefined ? token : token.slice(own.length);
}

/**
 * Returns the ISO 8601 day of 20250929, 2512 (December 2025) or a year after a month. Returns "" for 0309, a day without a
 * year, and null for other tokens.
 */
function readDate(token: string, before: string | undefined): string | null {
  const [, year, month, day] = /^(20[2-9]\d)(0[1-9]|1[0-2])([0-3]\d)$/.exec(token) ?? [];
  if (year) return `${year}-${month}-${day}`;
  if (/^20[2-9]\d$/.test(token) && /^(?:0[1-9]|1[0-2])$/.test(before ?? "")) return `${token}-${before}-01`;
  const [, shortYear, ofYear] = /^(2\d)(0[1-9]|1[0-2])$/.exec(token) ?? [];
  if (shortYear) return `20${shortYear}-${ofYear}-01`;
  return /^(?:0[1-9]|1[0-2])[0-3]\d$/.test(token) ? "" : null;
}

function readSize(token: string): number {
  return token
    .slice(0, -1)
    .split("x")
    .reduce((product, factor) => product * Number(factor), 1);
}
