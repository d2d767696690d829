/** What `--help` prints: every command with its flags, made from the commands themselves. */
import type { Command, Flag } from "./command.ts";
import { isSwitch } from "./command_line.ts";

const WIDTH = 96;

function usageOf(name: string, flag: Flag): string {
  const value = flag.words ? flag.words.join("|") : flag.placeholder;
  let usage = isSwitch(flag) ? `--${name}` : `--${name} ${value}`;
  if (flag.positional) usage = flag.placeholder ?? name;
  return flag.required ? usage : `[${usage}]`;
}

/** `words` joined by blanks, broken into lines of at most `WIDTH` that start with `indent`. */
function wrap(words: readonly string[], indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, indent + line].join("\n");
}

function summary(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, flag]) => usageOf(name, flag));
  return `  ${command.name}\n${wrap(command.about.split(" "), "      ")}${flags.length ? `\n${wrap(flags, "      ")}` : ""}`;
}

function details(command: Command): string {
  const rows = Object.entries(command.flags).map(([name, flag]) => ({
    usage: usageOf(name, { ...flag, required: true }),
    about: flag.required ? flag.about : `${flag.about} (optional)`,
  }));
  const width = Math.max(0, ...rows.map((row) => row.usage.length));
  const lines = rows.map((row) => `      ${row.usage.padEnd(width)}  ${row.about}`);
  return [`  ${command.name}`, wrap(command.about.split(" "), "      "), ...lines].join("\n");
}

/** The help for a topic: all commands for the empty one, else those whose name starts with it. */
export function helpText(commands: readonly Command[], topic: string): string {
  const [noun = "", verb] = topic.split(" ");
  const ofNoun = commands.filter(({ name }) => name.split(" ")[0] === noun);
  const exact = ofNoun.filter(({ name }) => name === `${noun} ${verb}`);
  const shown = exact.length > 0 ? exact : ofNoun;
  return [
    "Usage: bun run admin <noun> <verb> [flags]",
    "",
    shown.length > 0 ? shown.map(details).join("\n\n") : commands.map(summary).join("\n"),
    "",
    "  --json prints one JSON object and nothing else; --help after a command explains its flags.",
    "  DATABASE_URL names the database. Exit code: 0 done, 1 failed, 2 wrong usage.",
    "",
  ].join("\n");
}
