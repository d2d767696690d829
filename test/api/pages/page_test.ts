/** The behavior that all pages share: sessions, access rules, forms and headers. */
import { describe, expect, test } from "bun:test";
import { type Static, Type } from "@sinclair/typebox";
import type { Caller } from "../../../api/http/caller.ts";
import { unavailable } from "../../../api/http/error_handler.ts";
import { operation, reply } from "../../../api/http/operation.ts";
import { formField, problemSummary } from "../../../api/pages/forms.ts";
import { type Content, html } from "../../../api/pages/html.ts";
import type { PageContent } from "../../../api/pages/layout.ts";
import { type Page, type PageRoute, type SignedInPage, seeOther } from "../../../api/pages/page.ts";
import { ApiError } from "../../../shared/errors.ts";
import { auditRows } from "../../helpers/accounts/accounts.ts";
import { openTestApp, type TestAppOptions } from "../../helpers/http/app.ts";
import { BROWSER, formTokenIn, openPage, sendForm } from "../../helpers/pages/forms.ts";

const HOSTILE = `"><script>alert(1)</script>`;

const ME = { user: { id: "1", email: "a@b", username: "ann", name: HOSTILE }, organizations: [] };
const NOTE = Type.Object({ text: Type.String({ maxLength: 5 }) }, { additionalProperties: false });

const RESPONSE = { 200: Type.Object({ data: Type.Unknown() }) };
const WORDS = { tag: "Probes", summary: "Probe", description: "Probes.", response: RESPONSE } as const;

function probe(path: string, handle: (caller: Caller | null) => unknown) {
  return operation({ ...WORDS, id: path, method: "GET", path, access: "public" }, async ({ caller }) =>
    reply(200, { data: handle(caller) }),
  );
}

function write(path: string, handle: (body: Static<typeof NOTE>) => void) {
  return operation(
    { ...WORDS, id: path, method: "POST", path, access: "session", body: NOTE },
    async ({ body }) => {
      handle(body);
      return reply(200, { data: body });
    },
  );
}

/** Returns the operations of a small API that appends notes to `written`. */
function apiOperations(written: unknown[]) {
  return [
    operation({ ...WORDS, id: "me", method: "GET", path: "/api/v1/auth/me", access: "caller" }, async () =>
      reply(200, { data: ME }),
    ),
    probe("/api/v1/private", (caller) => requireVisitor(caller).username),
    probe("/api/v1/bug", () => fail(new TypeError("secret detail"))),
    probe("/api/v1/away", () => fail(unavailable(new Error("no database")))),
    write("/api/v1/refused", () => fail(new ApiError("ROLE_REQUIRED"))),
    write("/api/v1/notes", (note) => written.push(note)),
  ];
}

function requireVisitor(visitor: Caller | null): Caller {
  return visitor ?? fail(new ApiError("NOT_FOUND"));
}

function fail(error: Error): never {
  throw error;
}

function content(title: string, more: Content = null, status = 200): PageContent {
  return { title, section: null, status, main: html`<h1>${title}</h1>${more}` };
}

async function showResponse(page: Page) {
  const path = `/api/v1${page.url.searchParams.get("path")}`;
  const { data } = await page.call(probe(path, () => null));
  return content(String(data));
}

/** Returns the operation that writes a note at this path of the API, for pages to call. */
function writeNote(path: string) {
  return write(`/api/v1${path}`, () => {});
}

async function writeOnRead(page: Page) {
  await page.call(writeNote("/notes"), { body: { text: "x" } });
  return seeOther("/");
}

function showNote({ form, problems }: Page) {
  const field = formField(
    { name: "text", label: "Text", problems },
    (attributes) => html`<input ${attributes} value="${form.get("text")}">`,
  );
  return content("Note", [problemSummary(problems), field]);
}

async function sendNote({ form, call }: Page) {
  const body = { text: form.get("text") ?? "" };
  await call(writeNote(form.get("to") ?? "/notes"), { body });
  return seeOther("/?sent");
}

const PAGES: readonly PageRoute[] = [
  ["GET", "/", "all", () => content("Start")],
  ["GET", "/show", "all", showResponse],
  ["GET", "/writes", "all", writeOnRead],
  ["GET", "/own", "signedIn", ({ session }: SignedInPage) => content(session.user.username)],
  ["FORM", "/notes", "signedIn", [showNote, sendNote]],
];

/** Opens an app with the small API and the pages, and creates a session. */
async function openProbe(options: TestAppOptions = {}) {
  const written: unknown[] = [];
  const routes = [...apiOperations(written), ...PAGES];
  const app = await openTestApp({ ...options, routes });
  const { user } = await app.make.person();
  const { token } = await app.make.session({ userId: user.id });
  return { app, user, token, written, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

describe("a page", () => {
  test("shows the API's data for the caller, or the page for unknown URLs if the API returns 404", async () => {
    await using probe = await openProbe();
    const shown = await openPage(probe.app, "/show?path=/private", probe.token);
    expect([shown.status, await shown.text()]).toEqual([
      200,
      expect.stringContaining(`<h1>${probe.user.username}</h1>`),
    ]);
    const pages = await Promise.all(
      ["/show?path=/private", "/show?path=/nothing", "/nowhere"].map(async (path) => {
        const response = await openPage(probe.app, path);
        const id = response.headers.get("x-request-id") ?? "";
        return [
          response.status,
          (await response.text()).replaceAll(id, "ID"),
          response.headers.get("cache-control"),
        ];
      }),
    );
    expect(pages[0]?.[0]).toBe(404);
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
  });

  test("escapes names of users and organizations", async () => {
    await using probe = await openProbe();
    const text = await (await openPage(probe.app, `/own?${HOSTILE}`, probe.token)).text();
    expect(text).toContain("&lt;script&gt;alert(1)");
    expect(text).not.toContain("<script>alert");
  });

  test("is cacheable for anonymous visitors only", async () => {
    await using probe = await openProbe();
    const first = await openPage(probe.app, "/");
    expect(first.headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
    expect(first.headers.get("vary")).toContain("Cookie, Accept");
    const etag = first.headers.get("etag") ?? "";
    const again = await probe.app.request("/", { headers: { ...BROWSER, "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const own = await openPage(probe.app, "/", probe.token);
    expect([own.headers.get("cache-control"), own.headers.get("etag")]).toEqual(["private, no-store", null]);
  });

  test("ignores an ended session and clears its cookie", async () => {
    await using probe = await openProbe();
    for (const cookie of [`ulr_session=${probe.token}x`, "ulr_session=nonsense"]) {
      const response = await probe.app.request("/", { headers: { ...BROWSER, cookie } });
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining(">Sign in</a>"),
      ]);
    }
    const stale = await openPage(probe.app, "/", `${probe.token}x`);
    expect(stale.headers.getSetCookie()).toEqual(["ulr_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"]);
  });

  test("accepts only the session cookie, and ignores an Authorization header", async () => {
    await using probe = await openProbe();
    const response = await probe.app.request("/show?path=/private", { key: probe.token, headers: BROWSER });
    expect(response.status).toBe(404);
  });

  test("that requires a session redirects to the sign-in page, with the page's own URL in next", async () => {
    await using probe = await openProbe();
    const response = await openPage(probe.app, "/own?org=a&b=c");
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      "/dashboard/sign-in?next=%2Fown%3Forg%3Da%26b%3Dc",
    ]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("a request for a page", () => {
  test("counts once for the rate limit and logs one line, however many API calls the page makes", async () => {
    await using probe = await openProbe({ config: { rateLimitUserPerMinute: 2 } });
    probe.app.logLines.length = 0;
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1)
      statuses.push((await openPage(probe.app, "/show?path=/private", probe.token)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(probe.app.logLines.map(({ status, callerId }) => [status, callerId])).toEqual(
      statuses.map((status) => [status, probe.user.id]),
    );
  });

  test("shows an error page if the page fails, and the cause is only logged", async () => {
    await using probe = await openProbe();
    const response = await openPage(probe.app, "/show?path=/bug");
    const text = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([
      500,
      "text/html; charset=utf-8",
    ]);
    expect(text).toContain("Something went wrong");
    expect(text).not.toContain("secret detail");
    expect(JSON.stringify(probe.app.logLines.at(-1))).toContain("secret detail");
  });

  test("shows an error page while the database is down", async () => {
    await using probe = await openProbe();
    const response = await openPage(probe.app, "/show?path=/away");
    const text = await response.text();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(text).toContain("<h1>Temporarily unavailable</h1>");
    expect(text).not.toContain("no database");
  });

  test("returns 500 and writes nothing if a GET page calls a write", async () => {
    await using probe = await openProbe();
    expect((await openPage(probe.app, "/writes", probe.token)).status).toBe(500);
    expect(probe.written).toEqual([]);
  });
});

describe("a form", () => {
  test("writes if it is sent from our own origin with its session's token", async () => {
    await using probe = await openProbe();
    const response = await sendForm(probe.app, "/notes", { text: "a\r\nb" }, { token: probe.token });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/?sent"]);
    expect(probe.written).toEqual([{ text: "a\nb" }]);
  });

  test("is refused without Origin, from another site, without a token or with a foreign token", async () => {
    await using probe = await openProbe();
    const other = await probe.app.make.session({ userId: probe.user.id });
    const othersToken = formTokenIn(await (await openPage(probe.app, "/", other.token)).text());
    const plain = {
      cookie: `ulr_session=${probe.token}`,
      "content-type": "application/x-www-form-urlencoded",
    };
    const own = formTokenIn(await (await openPage(probe.app, "/", probe.token)).text());
    const body = new URLSearchParams({ text: "x", form_token: own }).toString();
    const responses = await Promise.all([
      probe.app.request("/notes", { method: "POST", headers: plain, body }),
      sendForm(
        probe.app,
        "/notes",
        { text: "x" },
        { token: probe.token, headers: { origin: "https://evil.example" } },
      ),
      sendForm(
        probe.app,
        "/notes",
        { text: "x" },
        { token: probe.token, headers: { "sec-fetch-site": "same-site" } },
      ),
      sendForm(probe.app, "/notes", { text: "x" }, { token: probe.token, formToken: othersToken }),
      sendForm(probe.app, "/notes", { text: "x" }, { token: probe.token, formToken: "x" }),
      sendForm(probe.app, "/notes", { text: "x" }, { headers: { origin: "null" } }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(probe.written).toEqual([]);
  });

  test("shows errors of the API at the field and keeps the input", async () => {
    await using probe = await openProbe();
    const response = await sendForm(probe.app, "/notes", { text: HOSTILE }, { token: probe.token });
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).toContain('role="alert"');
    expect(text).toContain(
      'aria-describedby="field-text-error" aria-invalid="true" value="&quot;&gt;&lt;script&gt;',
    );
    expect(text).toContain('<p class="field-error" id="field-text-error">Must have at most 5 characters');
    expect(text).not.toContain("<script>alert");
  });

  test("submitted after its session has ended, redirects to the sign-in page with a short URL", async () => {
    await using probe = await openProbe();
    const path = `/notes?text=${"x".repeat(2000)}`;
    const response = await sendForm(
      probe.app,
      path,
      { text: "x" },
      { token: `${probe.token}x`, formToken: "x" },
    );
    expect(response.headers.get("location")).toBe("/dashboard/sign-in?ended");
  });

  test("submitted after its session has ended, redirects to the sign-in page with its own path in next", async () => {
    await using probe = await openProbe();
    const response = await sendForm(
      probe.app,
      "/notes",
      { text: "x" },
      { token: `${probe.token}x`, formToken: "x" },
    );
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      "/dashboard/sign-in?next=%2Fnotes&ended",
    ]);
  });

  test("that is too large, has another media type or has too many fields is refused", async () => {
    await using probe = await openProbe();
    const large = await sendForm(probe.app, "/notes", { text: "x".repeat(70_000) }, { token: probe.token });
    const json = await sendForm(
      probe.app,
      "/notes",
      {},
      { token: probe.token, headers: { "content-type": "application/json" } },
    );
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, ""]));
    const fields = await sendForm(probe.app, "/notes", many, { token: probe.token });
    expect([large.status, json.status, fields.status]).toEqual([413, 415, 400]);
    expect(probe.written).toEqual([]);
  });

  test("that the API refuses because of the role leaves one audit entry, for the API's route", async () => {
    await using probe = await openProbe();
    await sendForm(probe.app, "/notes", { text: "x", to: "/refused" }, { token: probe.token });
    const entries = (await auditRows(probe.app)).filter(({ action }) => action === "request.refuse");
    expect(entries.map(({ subjectId }) => subjectId)).toEqual(["POST /api/v1/refused"]);
  });
});
