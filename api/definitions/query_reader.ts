/** Reads query parameters that a schema cannot say: numbers in bounds, and lists written in two ways. */
import { type Problem, refuseInput } from "../validation_problems.ts";

export interface QueryReader {
  /** A whole number within bounds, or `unset` where the parameter is left out. */
  integer(name: string, bounds: { least: number; most: number; unset: number }): number;
  /** One word of a list, which begins with the default. */
  word<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word;
  /** Any of the words, each once, repeated or joined with commas. */
  words<Word extends string>(name: string, words: readonly Word[]): Set<Word>;
}

/** Hands `read` what reads the parameters; throws VALIDATION_ERROR with all that is wrong. Others are ignored. */
export function readQuery<Result>(query: URLSearchParams, read: (reader: QueryReader) => Result): Result {
  const problems: Problem[] = [];
  const refuse = (path: string, message: string) => void problems.push({ path, message });
  const once = (name: string): string | null => {
    const [value = null, ...others] = query.getAll(name);
    if (others.length > 0) refuse(name, "must be given once");
    return value;
  };
  const result = read({
    integer(name, { least, most, unset }) {
      const text = once(name);
      if (text === null) return unset;
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= most) return value;
      refuse(name, `must be a whole number from ${least} to ${most}`);
      return unset;
    },
    word(name, words) {
      const text = once(name);
      const found = words.find((word) => word === text);
      if (text !== null && found === undefined) refuse(name, `must be one of ${words.join(", ")}`);
      return found ?? words[0];
    },
    words(name, words) {
      const given = query.getAll(name).flatMap((text) => text.split(","));
      const found = given.flatMap((text) => words.find((word) => word === text.trim()) ?? []);
      if (found.length < given.length) refuse(name, `must be any of ${words.join(", ")}`);
      return new Set(found);
    },
  });
  if (problems.length > 0) throw refuseInput(problems);
  return result;
}
