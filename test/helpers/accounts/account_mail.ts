/** Queues account mails, and reads them as their recipients do. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ACCOUNT_MAILS, type AccountMailPolicy, mintLinkToken } from "../../../shared/account_mail_kinds.ts";
import {
  type NewAccountMail,
  queueAccountMail,
  updateAccountMailLink,
} from "../../../sql/accounts/account_mails.ts";
import type { TestApp } from "../http/app.ts";
import { type MailServer, type ParsedMail, parseMail } from "../network/mail_server.ts";

/** Queues a mail as a request does, and returns the mail's id. */
export async function queueMail({ deps }: Pick<TestApp, "deps">, mail: NewAccountMail): Promise<string> {
  return deps.sql.begin((tx) => queueAccountMail(tx, deps.boss, mail));
}

/** Queues a mail, creates its link without sending the mail, and returns the link's token. */
export async function makeMailToken(app: Pick<TestApp, "deps">, mail: NewAccountMail): Promise<string> {
  const id = await queueMail(app, mail);
  const { token, tokenHash } = mintLinkToken();
  const { link }: AccountMailPolicy = ACCOUNT_MAILS[mail.kind];
  const minutes = link?.minutes ?? 0;
  await updateAccountMailLink(app.deps.sql, { id, tokenHash, minutes, userId: mail.userId ?? null });
  return token;
}

/** A parsed mail, its link and the link's token. `link` and `token` are null in a mail without a link. */
export interface ReadMail extends ParsedMail {
  link: string | null;
  token: string | null;
}

async function readMail(content: Uint8Array): Promise<ReadMail> {
  const parsed = await parseMail(content);
  const link = /https?:\/\/\S+[?&]token=\S+/.exec(parsed.text)?.[0] ?? null;
  const token = link === null ? null : (new URL(link).searchParams.get("token") ?? null);
  return { ...parsed, link, token };
}

/** Returns the newest mail that the server has accepted. Throws if it has accepted none. */
export async function newestMail({
  received,
}: Pick<MailServer, "received">): Promise<ReadMail & { to: string[] }> {
  const mail = received.at(-1);
  if (!mail) throw new Error("Cannot read a mail: none has come");
  return { ...(await readMail(mail.content)), to: mail.to };
}

/** Returns the mails that the service wrote to files because no mail server is configured, in no particular order. */
export async function storedMails({ deps }: Pick<TestApp, "deps">): Promise<ReadMail[]> {
  const directory = join(deps.config.dataDir, "mail");
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => name.endsWith(".eml")).map((name) => Bun.file(join(directory, name)));
  return Promise.all(files.map(async (file) => readMail(await file.bytes())));
}
