/** Entry point of the admin command line: `bun run admin <noun> <verb> [flags]`. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { tolerateLostOutput } from "../../shared/process/lost_output.ts";
import { onStdinEnd } from "../../shared/process/stdin_end.ts";
import { runAdmin } from "./run_admin.ts";

/** Size limit of the password input, above any accepted password. */
const MAX_INPUT_BYTES = 8192;

/**
 * Reads a password from stdin, which keeps it out of the process list and the shell history. Prompts without echo on a terminal.
 * Otherwise reads all input and removes the final line break.
 */
async function readPassword(input: NodeJS.ReadStream, prompt: (text: string) => void): Promise<string> {
  return input.isTTY ? readFromTerminal(input, prompt) : readToEnd(input);
}

async function readFromTerminal(input: NodeJS.ReadStream, prompt: (text: string) => void): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silence, terminal: true });
  try {
    prompt("Password: ");
    return await lines.question("");
  } finally {
    lines.close();
    prompt("\n");
  }
}

async function readToEnd(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_INPUT_BYTES) break;
    chunks.push(buffer);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

tolerateLostOutput(process);
onStdinEnd(process, () => process.exit(1));
// exit() would cut off output to a pipe.
process.exitCode = await runAdmin(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
  readPassword: () => readPassword(process.stdin, (text) => process.stderr.write(text)),
});
