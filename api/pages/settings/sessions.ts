/** /settings/sessions: a user's sessions, and forms that end them. */
import { listSessions, revokeSession } from "../../accounts/sessions.ts";
import { notFound } from "../../http/require_visible.ts";
import { SIGN_IN_PATH } from "../addresses.ts";
import { nullIf, type ResponseOf } from "../api_client.ts";
import { confirmPage } from "../confirm.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { badge, recordTable, renderInstant } from "../parts.ts";
import { seeSignedOut } from "../sign_in/sign_in.ts";
import { settingsPage } from "./settings_page.ts";

const PATH = "/settings/sessions";

const NOTICES = { ended: "Session ended.", "ended-others": "All other sessions have ended." };

type Session = ResponseOf<typeof listSessions>["data"]["sessions"][number];

export async function showSessions(page: SignedInPage): Promise<PageResult> {
  const sessions = await loadSessions(page);
  return settingsPage(page, {
    notices: NOTICES,
    body: html`<section class="stack" aria-labelledby="sessions-title">
  <h2 id="sessions-title">Sessions</h2>
  <p class="quiet">Where you are signed in. If you do not recognize one, end it and change your password.</p>
  ${renderSessions(sessions)}
  ${sessions.length > 1 && html`<p><a class="button danger" href="${PATH}/end-others">End all other sessions</a></p>`}
</section>`,
  });
}

export async function confirmEnd(page: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  const session = (await loadSessions(page)).find((candidate) => candidate.id === id);
  if (!session) throw notFound("session");
  return confirmPage(page, {
    section: "settings",
    title: session.isCurrent ? "End this session? You will be signed out." : "End this session?",
    text: html`<p>${deviceOf(session.userAgent)} · ${addressOf(session)}</p>
  <p>It is signed out within a second.</p>`,
    action: "End session",
    signsOut: session.isCurrent,
    cancel: PATH,
  });
}

export async function endSession({ send }: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  const ended = await send(revokeSession, { params: { id } });
  // The API clears the cookie only if the ended session is the current one.
  if (ended.headers.has("set-cookie")) return seeSignedOut(SIGN_IN_PATH, ended);
  return seeOtherWith(PATH, "ended");
}

export function confirmEndOthers(page: SignedInPage): PageResult {
  return confirmPage(page, {
    section: "settings",
    title: "End all other sessions?",
    text: html`<p>You stay signed in here. All other browsers and programs that signed in are signed out within a second. API keys stay valid.</p>`,
    action: "End other sessions",
    cancel: PATH,
  });
}

/** Ends the other sessions one by one. A session that has already ended is not an error. After a failure, the user can retry. */
export async function endOthers(page: SignedInPage): Promise<PageResult> {
  const others = (await loadSessions(page)).filter(({ isCurrent }) => !isCurrent);
  for (const { id } of others) {
    await nullIf(["NOT_FOUND"], page.call(revokeSession, { params: { id } }));
  }
  return seeOtherWith(PATH, "ended-others");
}

async function loadSessions({ call }: SignedInPage): Promise<readonly Session[]> {
  return (await call(listSessions)).data.sessions;
}

/** Describes the address of a session. Sessions that an operator created have no address. */
function addressOf({ address }: Pick<Session, "address">): string {
  return address ?? "created by an operator";
}

function renderSessions(sessions: readonly Session[]): Html {
  const rows = sessions.map((session): Content[] => [
    html`${deviceOf(session.userAgent)}${session.isCurrent && html` ${badge("This session", "good")}`}
    ${session.userAgent !== null && html`<details><summary>User agent</summary><code>${session.userAgent}</code></details>`}
    ${!session.isCurrent && html`<div class="actions"><a class="button danger" href="${PATH}/${session.id}/end" aria-label="End the session of ${deviceOf(session.userAgent)}, ${addressOf(session)}">End</a></div>`}`,
    addressOf(session),
    renderInstant(session.createdAt),
    renderInstant(session.lastUsedAt),
    renderInstant(session.expiresAt),
  ]);
  const columns = ["Device", "Address", "Signed in", "Last used", "Expires"];
  return recordTable("Sessions", columns, rows);
}

/** The order matters, because many browsers also name the browsers that they resemble. */
const BROWSERS: readonly [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Safari\//, "Safari"],
  [/^curl\//, "curl"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux|X11/, "Linux"],
];

/** Returns a recognizable name such as "Firefox on Linux". The user agent is chosen by the client. */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return "Unknown device";
  const find = (list: readonly [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? "Other program";
}
