/** Generates the text of `--help` from the command definitions. */
import type { Command, Flag } from "./command.ts";
import { isSwitch } from "./command_line.ts";

const WIDTH = 80;
const INDENT = "      ";

/** Returns the usage of a flag, such as `--tier free|pro`, in brackets if the flag is optional. */
function flagUsage(name: string, flag: Flag): string {
  const value = flag.words ? flag.words.join("|") : flag.placeholder;
  let usage = isSwitch(flag) ? `--${name}` : `--${name} ${value}`;
  if (flag.positional) usage = flag.placeholder ?? name;
  return flag.required ? usage : `[${usage}]`;
}

function flagUsages(command: Command): string[] {
  return Object.entries(command.flags).map(([name, flag]) => flagUsage(name, flag));
}

/** Breaks words into lines of at most `WIDTH` characters that start with `indent`. */
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
  const flags = flagUsages(command);
  const usage = flags.length > 0 ? `\n${wrap(flags, INDENT)}` : "";
  return `  ${command.name}\n${wrap(command.about.split(" "), INDENT)}${usage}`;
}

function details(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, flag]) => {
    const about = flag.required ? flag.about : `${flag.about} (optional)`;
    return `  ${flagUsage(name, { ...flag, required: true })}\n${wrap(about.split(" "), INDENT)}`;
  });
  return [
    wrap(["Usage: bun run admin", command.name, ...flagUsages(command)], ""),
    "",
    wrap(command.about.split(" "), ""),
    ...(flags.length > 0 ? ["", ...flags] : []),
  ].join("\n");
}

/** Returns the help for the commands whose name starts with `topic`. An empty topic selects all commands. */
export function helpText(commands: readonly Command[], topic: string): string {
  const [noun = "", verb] = topic.split(" ");
  const ofNoun = commands.filter(({ name }) => name.split(" ")[0] === noun);
  const exact = ofNoun.filter(({ name }) => name === noun || name === `${noun} ${verb}`);
  const shown = exact.length > 0 ? exact : ofNoun;
  const [only] = shown.length === 1 ? shown : [];
  const list = noun ? shown : commands;
  const usage = noun ? `${noun} <verb>` : "<noun> <verb>";
  return [
    ...(only ? [details(only)] : [`Usage: bun run admin ${usage} [flags]`, "", list.map(summary).join("\n")]),
    "",
    "--json prints one JSON object, also when the command fails.",
    "--help after a command explains its flags.",
    "DATABASE_URL names the database. Exit code: 0 done, 1 failed, 2 wrong usage.",
    "",
  ].join("\n");
}
