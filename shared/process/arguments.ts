/** Command lines of programs whose only configuration is the environment. */

/** The exit code for an invalid command line. */
export const EXIT_USAGE = 2;

/** Prints `usage` and exits on `--help`. Rejects any other argument with exit code 2. `usage` must start with the command. */
export function requireNoArguments(
  host: Pick<NodeJS.Process, "argv" | "stdout" | "stderr" | "exit">,
  usage: string,
): void {
  const [, , ...args] = host.argv;
  if (args.includes("--help") || args.includes("-h")) {
    host.stdout.write(usage);
    host.exit(0);
  }
  if (args.length === 0) return;
  const [, command] = /^Usage: (.+)$/m.exec(usage) ?? [];
  host.stderr.write(`Unknown argument "${args[0]}". See \`${command} --help\`.\n`);
  host.exit(EXIT_USAGE);
}
