/** Runs a mail server for one test, and parses received mails. */
import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** The source of the mail, as received. */
  content: Buffer;
}

export interface MailServer extends AsyncDisposable {
  url: string;
  /** The accepted mails, in order. */
  received: ReceivedMail[];
}

/** Returns an SMTP rejection. Like the texts of many servers, its text includes the recipient's address. */
export function smtpError(code: number, address: string): Error {
  return Object.assign(new Error(`5.1.1 <${address}> is not wanted here`), { responseCode: code });
}

/** Starts a server that accepts every mail unless `options` restrict it. `await using` stops the server. */
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

/** Returns the id of a mail's export job, from the Message-ID; `nothing` if the mail has no Message-ID. */
export function jobOfMail({ content }: ReceivedMail): string {
  return /^message-id:\s*<([^@>]+)@/im.exec(content.toString("latin1"))?.[1] ?? "nothing";
}

export interface ParsedMail {
  /** The headers by lower-case name. If a name repeats, the last header is kept. */
  headers: Record<string, string>;
  text: string;
  html: string;
}

/** Parses a mail with a different library than the one that writes it. */
export async function parseMail(content: Uint8Array): Promise<ParsedMail> {
  const { headers, subject = "", text = "", html = "" } = await PostalMime.parse(content);
  return {
    // postal-mime decodes encoded words in known fields such as the subject, but not in `headers`.
    headers: { ...Object.fromEntries(headers.map(({ key, value }) => [key, value])), subject },
    // postal-mime keeps the line break before a boundary, although that line break belongs to the boundary.
    text: text.replaceAll("\r\n", "\n").replace(/\n$/, ""),
    html,
  };
}
