/** /settings: profile, API keys and sessions of the signed-in user. */
import { Elysia } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages, seeOther } from "../page.ts";
import { confirmRevoke, createKey, revokeKey, showKeys } from "./keys.ts";
import { saveProfile, showProfile } from "./profile.ts";
import { confirmEnd, confirmEndOthers, endOthers, endSession, showSessions } from "./sessions.ts";

export function settingsRoutes({ showSignedIn }: Pages) {
  return new Elysia({ prefix: "/settings" })
    .use(access)
    .get("/", () => seeOther("/settings/profile"), PAGE_ROUTE)
    .get("/profile", ({ request }) => showSignedIn(request, showProfile), PAGE_ROUTE)
    .post("/profile", ({ request }) => showSignedIn(request, saveProfile), PAGE_ROUTE)
    .get("/keys", ({ request }) => showSignedIn(request, showKeys), PAGE_ROUTE)
    .post("/keys", ({ request }) => showSignedIn(request, createKey), PAGE_ROUTE)
    .get(
      "/keys/:id/revoke",
      ({ request, params }) => showSignedIn(request, (page) => confirmRevoke(page, params.id)),
      PAGE_ROUTE,
    )
    .post(
      "/keys/:id/revoke",
      ({ request, params }) => showSignedIn(request, (page) => revokeKey(page, params.id)),
      PAGE_ROUTE,
    )
    .get("/sessions", ({ request }) => showSignedIn(request, showSessions), PAGE_ROUTE)
    .get("/sessions/end-others", ({ request }) => showSignedIn(request, confirmEndOthers), PAGE_ROUTE)
    .post("/sessions/end-others", ({ request }) => showSignedIn(request, endOthers), PAGE_ROUTE)
    .get(
      "/sessions/:id/end",
      ({ request, params }) => showSignedIn(request, (page) => confirmEnd(page, params.id)),
      PAGE_ROUTE,
    )
    .post(
      "/sessions/:id/end",
      ({ request, params }) => showSignedIn(request, (page) => endSession(page, params.id)),
      PAGE_ROUTE,
    );
}
