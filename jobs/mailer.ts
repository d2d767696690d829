/** Sends mail over SMTP. Without a mail server, writes it to a directory. */
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createTransport } from "nodemailer";
import type { Config } from "../shared/process/config.ts";
import type { Log } from "../shared/process/log.ts";
import { keepPart, PART_ENDING, partPathOf } from "../shared/process/part_files.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";

/** RFC 5321, 4.5.3.2.6: a client that gives up sooner may send a message twice. */
const RESPONSE_TIMEOUT_MS = 10 * 60_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** How long messages are kept as files. */
const FILES_KEPT_MS = 30 * 24 * 3_600_000;
/** The minimum time between two deletions of old files. A deletion runs when a mail is written. */
const FILES_SWEEP_MS = 3_600_000;

export interface MailMessage {
  /**
   * The local part of the Message-ID, in letters, digits, `.` and `-`. Mail programs show only one of several messages with
   * the same id.
   */
  id: string;
  /** The address of the only recipient. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /**
   * Resolves when the server has accepted the message, or when the message is in a file. Throws MailError if the server does
   * not accept the message or `signal` is aborted. Throws the system's error if the file cannot be written.
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<"sent" | "stored">;
}

/**
 * The server did not accept the message. The error contains neither the address nor the server's text, which may repeat the
 * address.
 */
export class MailError extends Error {
  override readonly name = "MailError";
  /** True if the server will never accept the message, so that a retry is useless. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent }: { isPermanent: boolean }) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/**
 * Sends a mail, counts it, and logs `<event>.sent`, `<event>.failed` or `<event>.refused`. Returns false if the server will
 * never accept it; throws if a retry may succeed.
 */
export async function sendMail(
  { mailer, metrics, log }: { mailer: Mailer; metrics: Pick<RunnerMetrics, "mails">; log: Log },
  message: MailMessage,
  { event, signal }: { event: string; signal: AbortSignal },
): Promise<boolean> {
  try {
    const result = await mailer.send(message, signal);
    metrics.mails.inc({ result });
    if (result === "sent") log.info({ event: `${event}.sent` }, "sent a mail");
    else log.info({ event: "mail.stored" }, MAIL_STORED);
    return true;
  } catch (error) {
    const isPermanent = error instanceof MailError && error.isPermanent;
    metrics.mails.inc({ result: isPermanent ? "rejected" : "failed" });
    log.warn({ event: `${event}.${isPermanent ? "refused" : "failed"}`, err: error }, "a mail was not sent");
    if (isPermanent) return false;
    throw error;
  }
}

const MAIL_STORED = "wrote a mail into a file, because SMTP_URL is not set; nobody received it";

/** Opens the mailer. Without `smtpUrl`, it writes messages to files `<id>.eml` in the directory `mail` of `dataDir`. */
export function openMailer({
  smtpUrl,
  mailFrom,
  dataDir,
}: Pick<Config, "smtpUrl" | "mailFrom" | "dataDir">): Mailer {
  if (smtpUrl === null) return fileMailer(resolve(dataDir, "mail"), mailFrom);
  return smtpMailer(smtpUrl, mailFrom);
}

function composed({ id, to, subject, text, html }: MailMessage, mailFrom: string) {
  return {
    from: mailFrom,
    // An object is always read as one address, whatever characters it contains.
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
    // Off even if the URL enables it, because the log would contain addresses.
    logger: false,
  });
  return {
    async send(message, signal) {
      try {
        await transport.sendMail({ ...composed(message, mailFrom), ...(signal ? { signal } : {}) });
        return "sent";
      } catch (error) {
        throw mailError(error);
      }
    },
  };
}

/**
 * Returns whether TLS is required, because a password would be sent. By default, nodemailer continues in clear text if the
 * server offers no STARTTLS, or if an attacker has removed the offer. Operators can opt out with `?requireTLS=false`.
 */
function needsTls(url: string): boolean {
  const { protocol, username, searchParams } = new URL(url);
  return protocol === "smtp:" && username !== "" && searchParams.get("requireTLS") !== "false";
}

/**
 * Codes of failures without a response. Their messages come from the system or the TLS library and contain no recipient's
 * address.
 */
const NETWORK_CODES: readonly unknown[] = ["ESOCKET", "EDNS", "ETIMEDOUT"];

interface SmtpFailure {
  code?: unknown;
  message?: unknown;
  responseCode?: unknown;
  command?: unknown;
}

/** Converts nodemailer's error to a MailError without the server's text. */
function mailError(error: unknown): MailError {
  const { code, message, responseCode, command }: SmtpFailure =
    typeof error === "object" && error !== null ? error : {};
  if (typeof responseCode !== "number") {
    const detail = NETWORK_CODES.includes(code) ? ` (${message})` : "";
    return new MailError(`Cannot send mail: ${code ?? "unknown failure"}${detail}`, { isPermanent: false });
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
    // The operator can fix a rejected sender or login (AUTH, MAIL FROM), so these failures are retried.
    isPermanent: responseCode >= 500 && (step === "RCPT TO" || step === "DATA"),
  });
}

function fileMailer(directory: string, mailFrom: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  let sweptAt = 0;
  return {
    async send(message) {
      const { message: content } = await transport.sendMail(composed(message, mailFrom));
      if (!Buffer.isBuffer(content)) throw new Error("Cannot write mail: the composer gave no buffer");
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeWhole(join(directory, `${message.id}.eml`), content);
      if (Date.now() - sweptAt >= FILES_SWEEP_MS) {
        sweptAt = Date.now();
        await deleteOldFiles(directory);
      }
      return "stored";
    },
  };
}

/** Deletes old mails, and partial files that killed processes left behind. Another runner may do the same concurrently. */
async function deleteOldFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".eml") && !name.endsWith(PART_ENDING)) continue;
    const path = join(directory, name);
    const writtenAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - writtenAt > FILES_KEPT_MS) await rm(path, { force: true });
  }
}

/** Writes the file under a temporary name first, so that the final name never has partial content. */
async function writeWhole(path: string, content: Buffer): Promise<void> {
  const part = partPathOf(path);
  try {
    await writeFile(part, content, { flag: "wx", mode: 0o600, flush: true });
    await keepPart(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
