/** Access rights: every row of test/helpers/http/access_table.ts, for each kind of caller. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Route } from "../../../../api/http/route.ts";
import {
  CALLERS,
  type CallerName,
  expectedOf,
  FEW_CALLERS,
  MAIN_CALLERS,
} from "../../../helpers/http/access_classes.ts";
import { type Asked, askAll, type Row } from "../../../helpers/http/access_rows.ts";
import { type AccessScene, openAccessScene } from "../../../helpers/http/access_scene.ts";
import { ACCESS_TABLE } from "../../../helpers/http/access_table.ts";

let scene: AccessScene;
beforeAll(async () => {
  scene = await openAccessScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

function titleOf({ route, about }: Row): string {
  return about === undefined ? route : `${route} ${about}`;
}

function isRefused({ status }: Asked): boolean {
  return status >= 400;
}

/** Whether a write was refused with 402 or 403 for a reason other than missing membership. */
function isRefusedMember({ verdict }: Asked, { route }: Row): boolean {
  return writingRoutes().includes(route) && /^40[23] (?!ORG_ACCESS_DENIED)/.test(verdict);
}

/** Whether the response must not reveal that the resource exists. */
function isHidden({ status, verdict }: Asked, { inOrg }: Row): boolean {
  return status === 404 || (inOrg === true && verdict === "403 ORG_ACCESS_DENIED");
}

/** Returns each caller with the audit actions of its request. */
async function auditedOf(responses: readonly Asked[]) {
  const { sql } = scene.api.db;
  const ids = responses.map(({ requestId }) => requestId);
  const rows = await sql<{ requestId: string; action: string }[]>`
    select client_request_id as request_id, action
    from audit_log
    where client_request_id in ${sql(ids)}
    order by id`;
  return responses.map(({ caller, requestId }) => [
    caller,
    rows.filter((found) => found.requestId === requestId).map(({ action }) => action),
  ]);
}

test("every route that is not a page has a row in the access table, and every row has a route", () => {
  const routes = new Set(listRoutes(({ isPage }) => !isPage));
  expect([...new Set(ACCESS_TABLE.map(({ route }) => route))].sort()).toEqual([...routes].sort());
});

/** Lists the app's routes in the notation of the access table. */
function listRoutes(condition: (route: Route) => boolean): string[] {
  return scene.api.app.routes.filter(condition).map(({ method, pattern }) => `${method} ${pattern}`);
}

function writingRoutes(): string[] {
  return listRoutes(({ writes }) => writes);
}

test("every route that writes has a row that names its audit entry", () => {
  // Pages are excluded, because they write through the API's routes.
  const writing = listRoutes(({ writes, isPage }) => writes && !isPage);
  const audited = ACCESS_TABLE.filter(({ audit }) => audit !== undefined).map(({ route }) => route);
  expect(writing.length).toBeGreaterThan(15);
  expect(writing.filter((route) => !audited.includes(route))).toEqual([]);
});

test("a page of another site cannot write with the session cookie on any route", async () => {
  const { key } = await scene.callers.session();
  for (const route of writingRoutes()) {
    const [method = "", pattern = ""] = route.split(" ");
    const response = await scene.api.request(pattern.replaceAll(/:\w+/g, "x"), {
      method,
      headers: {
        cookie: `ulr_session=${key}`,
        origin: "https://evil.example",
        "content-type": "application/json",
      },
      body: "{}",
    });
    const { error } = (await response.json()) as { error: { code: string } };
    expect([route, response.status, error.code]).toEqual([route, 403, "FORBIDDEN_ORIGIN"]);
  }
});

/** Returns each caller with the statuses and error codes in the log lines of its request. */
function loggedOf(responses: readonly Asked[]) {
  const lines = Map.groupBy(scene.api.logLines, ({ requestId }) => requestId);
  return responses.map(({ caller, requestId }) => {
    const logged = lines.get(requestId) ?? [];
    return [caller, ...logged.map(({ status, code }) => (code ? `${status} ${code}` : String(status)))];
  });
}

/** Matches the scene's email addresses and the names of fields that are not public. */
const PRIVATE = /@example\.com|"(email|subscriptionTier|memberCount|members|platformRole)"/;

/** Returns whether this is the first row for its route and access class. */
function isFirst(row: Row): boolean {
  return row === ACCESS_TABLE.find(({ route, access }) => route === row.route && access === row.access);
}

function callersOf(row: Row): readonly CallerName[] {
  if (row.hashesPassword) return FEW_CALLERS;
  return isFirst(row) ? CALLERS : MAIN_CALLERS;
}

describe("each caller gets the response in the table and leaves a log line and the row's audit entry:", () => {
  for (const row of ACCESS_TABLE) {
    test(titleOf(row), async () => {
      const callers = callersOf(row);
      const responses = await askAll(scene, row, { callers });
      const expected = callers.map((caller) => [caller, expectedOf(row.access, caller, row.ok)]);
      expect(responses.map(({ caller, verdict }) => [caller, verdict])).toEqual(expected);
      expect(loggedOf(responses)).toEqual(expected);
      const notes = row.audit === undefined ? [] : [row.audit];
      const noted = responses.map((response) => {
        if (isRefusedMember(response, row)) return [response.caller, ["request.refuse"]];
        return [response.caller, isRefused(response) ? [] : notes];
      });
      expect(await auditedOf(responses)).toEqual(noted);
      for (const { caller, seen, askForNothing } of responses.filter((response) => isHidden(response, row))) {
        expect([caller, seen]).toEqual([caller, await askForNothing()]);
      }
      const [anonymous] = responses;
      if (row.access === "everyone") expect(PRIVATE.exec(anonymous?.text ?? "")).toBeNull();
    });
  }
});

describe("HEAD is refused to the same callers as GET:", () => {
  for (const row of ACCESS_TABLE.filter((row) => row.route.startsWith("GET") && isFirst(row))) {
    test(titleOf(row), async () => {
      const responses = await askAll(scene, row, { callers: FEW_CALLERS, method: "HEAD" });
      const expected = FEW_CALLERS.map((caller) => [
        caller,
        expectedOf(row.access, caller, row.ok).slice(0, 3),
      ]);
      expect(responses.map(({ caller, verdict }) => [caller, verdict])).toEqual(expected);
      expect((await auditedOf(responses)).flatMap(([, actions]) => actions)).toEqual([]);
    });
  }
});
