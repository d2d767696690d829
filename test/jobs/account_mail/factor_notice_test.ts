/** Tests the text and HTML of mails about second factors. */
import { expect, test } from "bun:test";
import type { FactorNotice } from "../../../shared/account_mail_kinds.ts";
import { newestMail, queueMail } from "../../helpers/accounts/account_mail.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openMailServer } from "../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

const PUBLIC_URL = "https://ulr.example/tools";
const IN_FULL = "If this was not you, change your password now";
const IN_A_SESSION = "someone knows your password or uses one of your sessions";

const NOTICES: [notice: FactorNotice, subject: string, ...texts: string[]][] = [
  [{ event: "added", name: "Old_phone *1*" }, "A second factor was added", "Old_phone *1*", IN_FULL],
  [{ event: "removed", name: "Key", isLast: false }, "A second factor was removed", "Key", IN_FULL],
  [
    { event: "removed", name: "Key", isLast: true },
    "A second factor was removed",
    "your password alone is now enough",
  ],
  [{ event: "reset" }, "Your second factors were removed", "contact an operator of this service"],
  [{ event: "codes_renewed" }, "Your recovery codes were replaced", "The old ones no longer work"],
  [{ event: "code_used", codesLeft: 3 }, "A recovery code was used", "3 are left."],
  [{ event: "code_used", codesLeft: 1 }, "A recovery code was used", "One is left."],
  [{ event: "code_used", codesLeft: 0 }, "A recovery code was used", "None are left. Replace your codes."],
  [{ event: "guessed" }, "Wrong codes for your account", "20 wrong codes", IN_A_SESSION],
  [{ event: "copied" }, "A copy of your passkey was used", "Remove that passkey", IN_A_SESSION],
];

test.each(NOTICES)("mails the second-factor notice %j", async (notice, subject, ...texts) => {
  await using server = await openMailServer({});
  await using api = await openTestApp({ config: { publicUrl: PUBLIC_URL, smtpUrl: server.url } });
  await using runner = await openTestRunner(api);
  const user = await api.make.user();
  // The notice goes to the address for which it was queued, even if the account's address has changed.
  const email = `old-${user.email}`;
  await queueMail(api, { kind: "factor_notice", email, userId: user.id, details: { ...notice } });
  await runner.accountMails();
  const { headers, text, html, to, token } = await newestMail(server);
  expect([headers["subject"], to, token]).toEqual([subject, [email], null]);
  for (const part of [text, html]) {
    expect(part).toContain(user.username);
    expect(part).toContain(`${PUBLIC_URL}/settings/second-factor`);
    for (const expected of texts) expect(part).toContain(expected);
  }
  expect(html).toContain('<meta name="color-scheme" content="light dark">');
});
