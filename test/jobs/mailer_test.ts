/** Tests sending to mail servers and writing mail files. The tests of the jobs check the content of mails. */
import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SMTPServerOptions } from "smtp-server";
import { MailError, type MailMessage, openMailer } from "../../jobs/mailer.ts";
import { openMailServer, parseMail, smtpError } from "../helpers/network/mail_server.ts";

const MAIL_FROM = "ulr <no-reply@ulr.example>";
const MESSAGE: MailMessage = {
  id: "b4f6",
  to: "somebody@example.com",
  subject: "Subject",
  text: "text\n.\nafter a lonely dot\n",
  html: "<p>html</p>",
};
/** Disables certificate verification, because the test server's certificate is self-signed. */
const UNVERIFIED = "tls.rejectUnauthorized=false";

function mailerTo(url: string) {
  return openMailer({ smtpUrl: url, mailFrom: MAIL_FROM, dataDir: "/nowhere" });
}

function withAuth(url: string, scheme = "smtp:"): string {
  return url.replace("smtp://", `${scheme}//me%40acme:p%2Fw%3A%20x@`);
}

async function failureOf(sending: Promise<unknown>): Promise<unknown> {
  return sending.then(
    () => null,
    (error: unknown) => error,
  );
}

for (const scheme of ["smtp:", "smtps:"]) {
  test(`signs in and sends over TLS with an ${scheme} URL`, async () => {
    const seen: unknown[] = [];
    await using server = await openMailServer({
      secure: scheme === "smtps:",
      authOptional: false,
      disabledCommands: [],
      onAuth({ username, password }, { secure }, callback) {
        seen.push({ username, password, secure });
        callback(null, { user: "me" });
      },
    });
    await mailerTo(`${withAuth(server.url, scheme)}?${UNVERIFIED}`).send(MESSAGE);
    expect(seen).toEqual([{ username: "me@acme", password: "p/w: x", secure: true }]);
    const { text } = await parseMail(server.received[0]?.content ?? Buffer.of());
    expect(text).toBe(MESSAGE.text);
  });
}

test("does not sign in to a server with an untrusted certificate, and reports the reason", async () => {
  let isAsked = false;
  await using server = await openMailServer({
    disabledCommands: [],
    onAuth(_auth, _session, callback) {
      isAsked = true;
      callback(null, { user: "me" });
    },
  });
  const failure = await failureOf(mailerTo(withAuth(server.url)).send(MESSAGE));
  expect(failure).toBeInstanceOf(MailError);
  expect(failure).toMatchObject({ isPermanent: false, message: expect.stringContaining("certificate") });
  expect([isAsked, server.received.length]).toEqual([false, 0]);
});

/**
 * Returns the options of a server that accepts passwords without TLS, like an attacker who strips STARTTLS. Adds received
 * passwords to `asked`.
 */
function withoutTls(asked: unknown[]): SMTPServerOptions {
  return {
    allowInsecureAuth: true,
    onAuth({ password }, _session, callback) {
      asked.push(password);
      callback(null, { user: "me" });
    },
  };
}

test("sends neither the password nor the mail without TLS, and suggests a fix", async () => {
  const asked: unknown[] = [];
  await using server = await openMailServer(withoutTls(asked));
  const failure = await failureOf(mailerTo(`${withAuth(server.url)}?ignoreTLS=true`).send(MESSAGE));
  expect(failure).toMatchObject({
    isPermanent: false,
    message: expect.stringMatching(/STARTTLS.*Use smtps:\/\//),
  });
  expect(String(failure)).not.toContain("p/w");
  expect([asked, server.received]).toEqual([[], []]);
});

test("sends without TLS if the URL permits plain text or has no password", async () => {
  const asked: unknown[] = [];
  await using server = await openMailServer(withoutTls(asked));
  await mailerTo(`${withAuth(server.url)}?requireTLS=false`).send(MESSAGE);
  await mailerTo(server.url).send(MESSAGE);
  expect([asked, server.received.length]).toEqual([["p/w: x"], 2]);
});

test("treats a 5xx response as a permanent failure, unless the server rejects the sender", async () => {
  const steps = ["onMailFrom", "onRcptTo", "onData"] as const;
  for (const code of [451, 552]) {
    for (const step of steps) {
      await using server = await openMailServer({
        [step]: (...given: unknown[]) => {
          const callback = given.at(-1) as (error: Error) => void;
          const [stream] = given as [{ resume?: () => void }];
          stream.resume?.();
          callback(smtpError(code, MESSAGE.to));
        },
      });
      const failure = await failureOf(mailerTo(server.url).send(MESSAGE));
      expect(failure).toBeInstanceOf(MailError);
      const isPermanent = code === 552 && step !== "onMailFrom";
      expect([code, step, (failure as MailError).isPermanent]).toEqual([code, step, isPermanent]);
      expect(String(failure)).toContain(`the server answers ${code}`);
      expect(Bun.inspect(failure)).not.toContain(MESSAGE.to);
    }
  }
});

test("writes one complete file when a message is sent twice at the same time", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-mail-"));
  try {
    const mailer = openMailer({ smtpUrl: null, mailFrom: MAIL_FROM, dataDir });
    await Promise.all([mailer.send(MESSAGE), mailer.send(MESSAGE)]);
    expect(await readdir(join(dataDir, "mail"))).toEqual(["b4f6.eml"]);
    const { headers } = await parseMail(await Bun.file(join(dataDir, "mail/b4f6.eml")).bytes());
    expect(headers).toMatchObject({ from: MAIL_FROM, to: MESSAGE.to, "message-id": "<b4f6@ulr.example>" });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("reports a message that was written to a file as stored, and deletes mail files after 30 days", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-mail-"));
  const directory = join(dataDir, "mail");
  try {
    const open = () => openMailer({ smtpUrl: null, mailFrom: MAIL_FROM, dataDir });
    const mailer = open();
    for (const id of ["old", "younger"]) expect(await mailer.send({ ...MESSAGE, id })).toBe("stored");
    await Bun.write(join(directory, "notes.txt"), "not a mail");
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
    // Simulates the files of a process that was killed while it wrote them.
    for (const name of ["old.eml.1.part", "younger.eml.2.part"])
      await Bun.write(join(directory, name), "a pa");
    for (const name of await readdir(directory)) {
      const at = daysAgo(name.startsWith("younger") ? 29 : 31);
      await utimes(join(directory, name), at, at);
    }
    await open().send({ ...MESSAGE, id: "new" });
    const kept = ["new.eml", "notes.txt", "younger.eml", "younger.eml.2.part"];
    expect((await readdir(directory)).sort()).toEqual(kept);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
