/** Runs a program and collects its output. */

export interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a program until it exits. `env` replaces this process's environment. Throws if the program is not installed. */
export async function runCommand(
  command: readonly string[],
  options: { stdin?: Uint8Array; env?: Readonly<Record<string, string>> } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([...command], {
    ...(options.env ? { env: options.env } : {}),
    stdin: options.stdin ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}
