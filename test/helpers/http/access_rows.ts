/** A row of the access table, and the request that each caller sends for it. */
import { type AccessName, type CallerName, expectedOf } from "./access_classes.ts";
import { type AccessScene, freeName, type Occasion, type Place, type Subject } from "./access_scene.ts";
import type { TestRequest } from "./app.ts";

/** Matches the paths of routes that are not under /api/v1. */
const BESIDE_API =
  /^\/($|favicon\.ico$|\.well-known|dashboard|health|metrics|schemas|security-policy|swagger)/;

export interface Row {
  /** The method and path pattern, as in the app's routes. */
  route: string;
  access: AccessName;
  /** The status of a successful response. */
  ok: 200 | 201 | 202 | 204 | 302;
  /** The name of the case, if the route has several cases. */
  about?: string;
  /** Creates the subject of the request. The returned text replaces parameters of the path and is passed to `body`. */
  of?: Subject;
  /** The version after the name or id in the path. */
  version?: "@1.0.0";
  /** The dataset in the path; `issues` if omitted. */
  dataset?: string;
  query?: string;
  body?: (subject: string, occasion: Occasion) => unknown;
  /** True if the request sends `X-Org-Slug`. */
  inOrg?: boolean;
  /** True if the path includes the organization: `@org/name`. */
  isQualified?: boolean;
  /** The audit action that a success records. */
  audit?: string;
  /** True if a success hashes a password, which takes longer than the rest of the request. */
  hashesPassword?: boolean;
}

/** Creates a row. `route` omits the prefix /api/v1, which this function adds where it applies. */
export function row(
  route: string,
  access: AccessName,
  ok: Row["ok"],
  how: Omit<Row, "route" | "access" | "ok"> = {},
): Row {
  const [method, path = ""] = route.split(" ");
  return { route: `${method} ${BESIDE_API.test(path) ? "" : "/api/v1"}${path}`, access, ok, ...how };
}

/** A caller's request and its response. */
export interface Asked {
  caller: CallerName;
  requestId: string;
  status: number;
  text: string;
  /** The status, followed by the error code of an error response. */
  verdict: string;
  /** The response as text: status, headers and body, without the values that differ in every response. */
  seen: string;
  /** Sends the same request about a subject or an organization that does not exist, and returns that response as text. */
  askForNothing(): Promise<string>;
}

/** Sends the row's request as each of these callers. `method` can replace GET with HEAD. */
export async function askAll(
  scene: AccessScene,
  row: Row,
  { callers, method }: { callers: readonly CallerName[]; method?: "HEAD" },
): Promise<Asked[]> {
  const made = new Map<Place, string>();
  const responses: Asked[] = [];
  for (const caller of callers) {
    const place = scene.placeOf(caller);
    const { userId, key } = await scene.callers[caller]();
    const isRead = row.route.startsWith("GET");
    const isChange = !isRead && expectedOf(row.access, caller, row.ok) === String(row.ok);
    const occasion = { scene, place, userId, isChange };
    // Reads in the same place share one subject, because they do not change it. `of` is called for each write.
    const subject = (isRead && made.get(place)) || ((await row.of?.(occasion)) ?? "");
    made.set(place, subject);
    responses.push(await askAs(caller, { row, subject, occasion, key, method }));
  }
  return responses;
}

interface Wish {
  row: Row;
  subject: string;
  occasion: Occasion;
  key: string | undefined;
  method: "HEAD" | undefined;
}

async function askAs(caller: CallerName, wish: Wish): Promise<Asked> {
  const { subject, occasion } = wish;
  const { slug } = occasion.place.org;
  const requestId = crypto.randomUUID();
  const { response, text, seen } = await send(wish, { subject, slug, requestId });
  const { status } = response;
  const isHiddenOrg = status === 403 && wish.row.inOrg;
  const nothing = isHiddenOrg
    ? { subject, slug: freeName() }
    : { subject: isUuid(subject) ? crypto.randomUUID() : freeName(), slug };
  return {
    caller,
    requestId,
    status,
    text,
    seen,
    verdict: status < 400 || text === "" ? String(status) : `${status} ${JSON.parse(text).error.code}`,
    askForNothing: async () => (await send(wish, { ...nothing, requestId })).seen,
  };
}

async function send(
  { row, occasion, key, method }: Wish,
  given: { subject: string; slug: string; requestId: string },
): Promise<{ response: Response; text: string; seen: string }> {
  const { path, ...request } = requestOf(row, occasion, given);
  const response = await occasion.scene.api.request(path, {
    ...request,
    ...(method ? { method } : {}),
    ...(key === undefined ? {} : { key }),
  });
  const text = await response.text();
  return { response, text, seen: whatIsSeen(response, text, given) };
}

/** Path parameters with the same value in every row. */
const FIXED: Readonly<Record<string, string>> = {
  ":type": "agent",
  ":provider": "openai",
};

function requestOf(
  row: Row,
  occasion: Occasion,
  { subject, slug, requestId }: { subject: string; slug: string; requestId: string },
): TestRequest & { path: string } {
  const [method = "", pattern = ""] = row.route.split(" ");
  const organization = row.isQualified ? `@${occasion.place.org.slug}/` : "";
  const isInOrg = /:slug\/\w+\/:/.test(pattern);
  const fixed: Readonly<Record<string, string>> = {
    ...FIXED,
    ":dataset": row.dataset ?? "issues",
    ...(isInOrg ? { ":slug": occasion.place.org.slug } : {}),
  };
  const path = pattern.replaceAll(
    /:\w+|\*/g,
    (name) => fixed[name] ?? `${organization}${subject}${row.version ?? ""}`,
  );
  return {
    path: `${path}${row.query ?? ""}`,
    method,
    headers: {
      "x-request-id": requestId,
      ...(row.inOrg ? { "x-org-slug": slug } : {}),
    },
    ...(row.body ? { body: row.body(subject, occasion) } : {}),
  };
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/**
 * Returns status, headers and body as text, with placeholders for the request's subject and organization, and without
 * the rate limit headers that differ in every response.
 */
function whatIsSeen(
  { status, headers }: Response,
  text: string,
  { subject, slug }: { subject: string; slug: string },
): string {
  const shown = [...headers].filter(([name]) => !/^(x-ratelimit-(remaining|reset)|ratelimit)$/.test(name));
  const all = JSON.stringify([status, shown, text]).replaceAll(slug, "<organization>");
  return subject === "" ? all : all.replaceAll(subject, "<subject>");
}
