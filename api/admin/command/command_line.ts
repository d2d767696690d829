/** Parses the operator's command line. Throws UsageError if it is invalid. */
import { parseArgs } from "node:util";
import { type Command, type Flag, type GivenFlags, UsageError } from "./command.ts";

/** A parsed command line. `topic` is the noun, or noun and verb, to explain. An empty topic means all commands. */
export type CommandLine =
  | { type: "help"; topic: string }
  | { type: "command"; command: Command; values: GivenFlags; json: boolean };

export function isSwitch(flag: Flag): boolean {
  return flag.placeholder === undefined && flag.words === undefined;
}

/** Parses the arguments after `bun run admin`. */
export function parseCommandLine(commands: readonly Command[], words: readonly string[]): CommandLine {
  const wantsHelp = words.includes("--help") || words.includes("-h") || words.length === 0;
  if (wantsHelp || words[0] === "help") {
    const topic = words.filter((word) => !word.startsWith("-") && word !== "help").slice(0, 2);
    const isNoun = topic.length === 1 && commands.some(({ name }) => name.startsWith(`${topic[0]} `));
    if (topic.length > 0 && !isNoun) findCommand(commands, topic);
    return { type: "help", topic: topic.join(" ") };
  }
  const command = findCommand(commands, words);
  const rest = words.slice(command.name.split(" ").length);
  const given = readFlags(command, rest);
  for (const [name, flag] of Object.entries(command.flags)) given[name] = checkFlag(name, flag, given[name]);
  return { type: "command", command, values: given, json: given["json"] === true };
}

function findCommand(commands: readonly Command[], words: readonly string[]): Command {
  const [noun = "", verb = ""] = words;
  const command = commands.find(({ name }) => name === noun || name === `${noun} ${verb}`);
  if (command) return command;
  const verbs = commands
    .filter(({ name }) => name.startsWith(`${noun} `))
    .map(({ name }) => name.split(" ")[1]);
  if (verbs.length === 0) throw new UsageError(`Unknown command "${noun}". See \`bun run admin --help\`.`);
  const problem =
    verb && !verb.startsWith("-") ? `Unknown command "${noun} ${verb}"` : `Incomplete command "${noun}"`;
  throw new UsageError(`${problem}. Its commands are ${verbs.join(", ")}.`);
}

/** Returns the given values by flag name. Throws UsageError for unknown flags, extra arguments and missing values. */
function readFlags(command: Command, words: readonly string[]): GivenFlags {
  // Every command accepts --json and --help. Each help text describes both at the end.
  const flags: Record<string, Flag> = { ...command.flags, json: { about: "" }, help: { about: "" } };
  const positionals = Object.keys(command.flags).filter((name) => command.flags[name]?.positional);
  const help = `bun run admin ${command.name} --help`;
  const given: GivenFlags = {};
  for (const token of parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(flags).map(([name, flag]) => [
        name,
        { type: isSwitch(flag) ? ("boolean" as const) : ("string" as const) },
      ]),
    ),
    // In strict mode, the parser's error messages are several sentences long.
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens) {
    if (token.kind === "positional") {
      const name = positionals.shift();
      if (!name) {
        // The message omits the argument, because it may be part of an unquoted password.
        throw new UsageError(
          `Unexpected argument for "${command.name}". Put quotes around values with spaces, or see \`${help}\`.`,
        );
      }
      given[name] = token.value;
    } else if (token.kind === "option") {
      const flag = flags[token.name];
      if (!flag || flag.positional) {
        throw new UsageError(`Unknown flag ${token.rawName}. See \`${help}\`.`);
      }
      given[token.name] = readValue(flag, token);
    }
  }
  return given;
}

function readValue(
  flag: Flag,
  token: { rawName: string; value: string | undefined; inlineValue: boolean | undefined },
): string | boolean {
  if (isSwitch(flag)) {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
    return true;
  }
  // In `--name --json`, the value is missing. In `--name=--json`, the value is `--json`.
  if (token.value === undefined || (token.value.startsWith("--") && !token.inlineValue)) {
    throw new UsageError(`${token.rawName} needs a value`);
  }
  return token.value;
}

function checkFlag(name: string, flag: Flag, value: GivenFlags[string]): GivenFlags[string] {
  if (isSwitch(flag)) return value === true;
  const label = flag.positional ? (flag.placeholder ?? name) : `--${name}`;
  if (value === undefined || value === "") {
    if (flag.required) throw new UsageError(`${label} is required: ${flag.about}`);
    if (value === "") throw new UsageError(`${label} needs a value`);
    return undefined;
  }
  if (flag.words && !flag.words.includes(String(value))) {
    throw new UsageError(`${label} must be one of ${flag.words.join(", ")}`);
  }
  return value;
}
