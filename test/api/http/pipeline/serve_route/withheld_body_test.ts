/** Requests whose body arrives long after their headers, over a real socket. */
import { expect, test } from "bun:test";
import { makeAccount } from "../../../../helpers/accounts/accounts.ts";
import { type ListeningApp, openListeningApp } from "../../../../helpers/http/listening_app.ts";
import { formTokenIn, openPage } from "../../../../helpers/pages/forms.ts";
import { waitFor } from "../../../../helpers/wait_for.ts";
import { WEBHOOK_BODY } from "../../../../helpers/webhooks/call_webhooks.ts";

const LONG_AGO = "2026-01-01T00:00:00.000Z";

interface Withheld {
  /** Sends the body and returns the whole response. */
  finish(): Promise<string>;
}

interface Post {
  path: string;
  headers: readonly string[];
  body: string;
}

/** Sends the headers of a POST. Resolves more than a second after the service has looked up the credential. */
async function withhold({ app, port }: ListeningApp, { path, headers, body }: Post): Promise<Withheld> {
  const lastUses = () => app.db.sql`
    select from (select last_used_at from sessions union all select last_used_at from api_keys) as credentials
    where last_used_at > ${LONG_AGO}`;
  const response = Promise.withResolvers<string>();
  let received = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, data) {
        received += data.toString();
      },
      close: () => response.resolve(received),
    },
  });
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    ...headers,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await waitFor(async () => (await lastUses()).length > 0);
  const seenAt = performance.now();
  await waitFor(() => performance.now() - seenAt > 1000);
  return {
    finish() {
      socket.write(body);
      return response.promise;
    },
  };
}

function newKeyPost(token: string): Post {
  const headers = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
  return { path: "/api/v1/auth/keys", headers, body: JSON.stringify({ name: "kept" }) };
}

test("a session that ends before a request's body arrives creates no key", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  const user = await makeAccount(app);
  const stolen = await app.make.session({ userId: user.id, lastUsedAt: LONG_AGO });
  const request = await withhold(server, newKeyPost(stolen.token));
  const own = await app.make.session({ userId: user.id });
  const path = `/api/v1/auth/sessions/${stolen.id}`;
  expect((await app.request(path, { method: "DELETE", key: own.token })).status).toBe(204);
  const response = await request.finish();
  expect(response).toStartWith("HTTP/1.1 401 ");
  expect(response).toContain('"UNAUTHORIZED"');
  expect(response.toLowerCase()).toContain("\r\nwww-authenticate: bearer\r\n");
  expect(await app.db.sql`select from api_keys`).toHaveLength(0);
});

test("a user who is disabled before a request's body arrives creates no webhook", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  const { user, org, key } = await app.make.person();
  await app.db.sql`update api_keys set last_used_at = ${LONG_AGO}`;
  const headers = [`Authorization: Bearer ${key}`, "Content-Type: application/json"];
  const path = `/api/v1/orgs/${org.slug}/webhooks`;
  const request = await withhold(server, { path, headers, body: JSON.stringify(WEBHOOK_BODY) });
  // An operator makes this change in another process. The API notices the change when it next looks up the credential.
  await app.db.sql`update users set disabled_at = now() where id = ${user.id}`;
  expect(await request.finish()).toStartWith("HTTP/1.1 401 ");
  expect(await app.db.sql`select from webhooks`).toHaveLength(0);
});

test("a form whose session ends before its body arrives redirects to the sign-in page and clears the cookie", async () => {
  await using server = await openListeningApp();
  const { app, port } = server;
  const user = await makeAccount(app);
  const { id, token } = await app.make.session({ userId: user.id });
  const formToken = formTokenIn(await (await openPage(app, "/settings/keys", token)).text());
  await app.db.sql`update sessions set last_used_at = ${LONG_AGO}`;
  app.deps.callers.forget(id);
  const headers = [
    `Cookie: ulr_session=${token}`,
    `Origin: http://127.0.0.1:${port}`,
    "Content-Type: application/x-www-form-urlencoded",
  ];
  const body = new URLSearchParams({ form_token: formToken, name: "kept" }).toString();
  const request = await withhold(server, { path: "/settings/keys", headers, body });
  await app.db.sql`update sessions set revoked_at = now() where id = ${id}`;
  const response = await request.finish();
  expect(response).toStartWith("HTTP/1.1 303 ");
  expect(response).toMatch(/\r\nlocation: \/dashboard\/sign-in/i);
  expect(response).toMatch(/\r\nset-cookie: ulr_session=;/i);
  expect(await app.db.sql`select from api_keys`).toHaveLength(0);
});

test("a valid credential can write even if the body arrives late, and the request counts once", async () => {
  await using server = await openListeningApp({ config: { rateLimitUserPerMinute: 100 } });
  const { app } = server;
  const user = await makeAccount(app);
  const { token } = await app.make.session({ userId: user.id, lastUsedAt: LONG_AGO });
  const request = await withhold(server, newKeyPost(token));
  const response = await request.finish();
  expect(response).toStartWith("HTTP/1.1 201 ");
  expect(response.toLowerCase()).toContain("\r\nx-ratelimit-remaining: 99\r\n");
});
