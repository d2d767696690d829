/** A mail server of a test's own, and mail as a program that is not ours reads it. */
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** As it came over the wire. */
  content: Buffer;
}

export interface MailServer extends AsyncDisposable {
  url: string;
  /** What it has taken, in order. */
  received: ReceivedMail[];
}

/** A refusal as SMTP servers give it, with the recipient's address in the text as many do. */
export function smtpError(code: number, address: string): Error {
  return Object.assign(new Error(`5.1.1 <${address}> is not wanted here`), { responseCode: code });
}

/** Starts a server that takes everything, or what `options` let it take; `await using` ends it. */
export async function openMailServer(
  options: SMTPServerOptions = {},
  port = 0,
  address = "127.0.0.1",
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          content: Buffer.concat(chunks),
        });
        callback();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  const { port: bound } = server.server.address() as AddressInfo;
  return {
    url: `smtp://${address}:${bound}`,
    received,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The id of the export job that a mail is about, from its Message-ID. */
export function jobOfMail({ content }: ReceivedMail): string {
  return /^message-id:\s*<([^@>]+)@/im.exec(content.toString("latin1"))?.[1] ?? "nothing";
}

export interface ParsedMail {
  headers: Record<string, string>;
  text: string;
  html: string;
  /** What the parser found wrong with it. */
  defects: string[];
}

const PARSER = `
import email, email.policy, json, sys
mail = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
json.dump({
    "headers": {name.lower(): str(value) for name, value in mail.items()},
    "text": mail.get_body(("plain",)).get_content().replace("\\r\\n", "\\n"),
    "html": mail.get_body(("html",)).get_content(),
    "defects": [str(d) for part in mail.walk() for d in part.defects]
      + [str(d) for value in mail.values() for d in value.defects],
}, sys.stdout)
`;

/** Reads a mail with Python's `email`. */
export async function parseMail(content: Uint8Array): Promise<ParsedMail> {
  const python = Bun.spawn(["python3", "-c", PARSER], {
    stdin: Buffer.from(content),
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await new Response(python.stdout).json()) as ParsedMail;
}
