/** What is said, and returned to the shell, for each way a run can end. */
import type { Fields } from "./field_reader.ts";
import { humanize } from "./generic_section.ts";
import { given, md, prose } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";

/** A row for each of the keys whose value is a map or a message; the others stay among the leftovers. */
export function writeOutcomes(w: MarkdownWriter, postflight: Fields, keys: readonly string[]): void {
  const rows = keys.map((key) => {
    const name = prose(humanize(key.replace(/^on_/, "")));
    const outcome = postflight.map(key);
    const message = outcome ? outcome.prose("message") : postflight.prose(key);
    const exitCode = outcome?.number("exit_code") ?? null;
    if (message === null && exitCode === null) return [];
    return [name, message, given(exitCode, (code) => md`${code}`)];
  });
  w.table(["Outcome", "Message", "Exit code"], rows);
}
