/** Sending mail: over SMTP, or into a directory where there is no mail server. */
import { open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createTransport } from "nodemailer";
import { createPartDirectory, keepPart, partPathOf } from "../shared/process/part_files.ts";

/** RFC 5321, 4.5.3.2.6: who gives up sooner on the response to a message sends it twice. */
const RESPONSE_TIMEOUT_MS = 10 * 60_000;
const CONNECT_TIMEOUT_MS = 30_000;

export interface MailMessage {
  /** The same whenever the same message is sent again: mail programs show one of them. Letters, digits, `.` and `-`. */
  id: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /**
   * Resolves when the message is somebody else's to deliver. Throws MailError, also when `signal` ends the wait, and
   * on a disk that is full.
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>;
}

/** The server did not take the message. Says neither to whom it was nor what the server said, which repeats that. */
export class MailError extends Error {
  override readonly name = "MailError";
  /** True when the server will never take it: trying again is no use. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent }: { isPermanent: boolean }) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

export interface MailerOptions {
  /** With credentials; `null`: messages become files `<id>.eml`. */
  smtpUrl: string | null;
  mailFrom: string;
  /** Messages go to `mail` in it. */
  dataDir: string;
}

export function openMailer({ smtpUrl, mailFrom, dataDir }: MailerOptions): Mailer {
  if (smtpUrl === null) return fileMailer(resolve(dataDir, "mail"), mailFrom);
  return smtpMailer(smtpUrl, mailFrom);
}

/** What nodemailer is told of a message, whichever way it goes. */
function composed({ id, to, subject, text, html }: MailMessage, mailFrom: string) {
  return {
    from: mailFrom,
    // As an object it stays one address, whatever is in it.
    to: { name: "", address: to },
    messageId: `<${id}@${mailFrom.replace(/^.*@|>$/g, "")}>`,
    subject,
    text,
    html,
    // RFC 3834: suppresses out-of-office replies.
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function smtpMailer(url: string, mailFrom: string): Mailer {
  const transport = createTransport({
    url,
    requireTLS: needsTls(url),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: RESPONSE_TIMEOUT_MS,
    // Not even when the URL asks for it: the conversation has addresses in it.
    logger: false,
  });
  return {
    async send(message, signal) {
      try {
        await transport.sendMail({ ...composed(message, mailFrom), ...(signal ? { signal } : {}) });
      } catch (error) {
        throw mailError(error);
      }
    },
  };
}

/**
 * True where a password would be sent. Nodemailer alone goes on in clear text when the server offers no STARTTLS, or
 * somebody on the way has taken the offer out. An operator who trusts the way writes `?requireTLS=false`.
 */
function needsTls(url: string): boolean {
  const { protocol, username, searchParams } = new URL(url);
  return protocol === "smtp:" && username !== "" && searchParams.get("requireTLS") !== "false";
}

/** What nodemailer says of a failure, without the texts. */
interface SmtpFailure {
  code?: unknown;
  responseCode?: unknown;
  command?: unknown;
}

function mailError(error: unknown): MailError {
  const { code, responseCode, command }: SmtpFailure =
    typeof error === "object" && error !== null ? error : {};
  if (typeof responseCode !== "number") {
    return new MailError(`Cannot send mail: ${code ?? "unknown failure"}`, { isPermanent: false });
  }
  const step = typeof command === "string" ? command : "connecting";
  if (step === "STARTTLS") {
    return new MailError(
      `Cannot send mail: the server answers ${responseCode} to STARTTLS, and SMTP_URL has a user, whose password is not ` +
        "sent without TLS. Use smtps:// or a port with STARTTLS.",
      { isPermanent: false },
    );
  }
  return new MailError(`Cannot send mail: the server answers ${responseCode} to ${step}`, {
    // That it refuses us (AUTH, MAIL FROM) is for its operator to put right, and may be right within the hour.
    isPermanent: responseCode >= 500 && (step === "RCPT TO" || step === "DATA"),
  });
}

function fileMailer(directory: string, mailFrom: string): Mailer {
  const prepare = createPartDirectory(directory);
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  return {
    async send(message) {
      const { message: content } = await transport.sendMail(composed(message, mailFrom));
      if (!Buffer.isBuffer(content)) throw new Error("Cannot write mail: the composer gave no buffer");
      await prepare();
      await writeWhole(join(directory, `${message.id}.eml`), content);
    },
  };
}

/** Whoever sees the file sees all of it. */
async function writeWhole(path: string, content: Buffer): Promise<void> {
  const part = partPathOf(path);
  try {
    const file = await open(part, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await keepPart(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
