/** Mails about accounts as their readers get them. */
import type { NewAccountMail } from "../../../sql/accounts/account_mails.ts";
import { queueAccountMail } from "../../../sql/accounts/account_mails.ts";
import type { TestApp } from "../http/app.ts";
import { type MailServer, parseMail } from "../network/mail_server.ts";

/** Queues a mail as a request does, and returns its id. */
export async function queueMail({ deps }: Pick<TestApp, "deps">, mail: NewAccountMail): Promise<string> {
  return deps.sql.begin((tx) => queueAccountMail(tx, deps.boss, mail));
}

/** The newest mail that the server has taken, with the link in it and the link's token; null without a link. */
export async function newestMail({ received }: Pick<MailServer, "received">) {
  const mail = received.at(-1);
  if (!mail) throw new Error("Cannot read a mail: none has come");
  const parsed = await parseMail(mail.content);
  const link = /https?:\/\/\S+[?&]token=\S+/.exec(parsed.text)?.[0] ?? null;
  const token = link === null ? null : (new URL(link).searchParams.get("token") ?? null);
  return { ...parsed, to: mail.to, link, token };
}
