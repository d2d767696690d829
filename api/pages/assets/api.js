/** Calls the JSON API with the session of this browser. */
const API = "/api/v1";
const SIGN_IN = "/dashboard/sign-in";

/** Whether this page has had a session: then a 401 means that the session has ended. */
let hasSession = false;

/**
 * @typedef {{ path: string, message: string }} Problem
 * @typedef {{ errors?: Problem[], limit?: number, requiredRole?: string, currentRole?: string, currentTier?: string }} Details
 */

/** An error of the API. */
export class Refusal extends Error {
  /**
   * @param {{ status: number, code: string, message: string, details?: Details, requestId?: string,
   *   retryAfterSeconds?: number | null }} given `status` is 0 without a response
   */
  constructor({ status, code, message, details = {}, requestId = "", retryAfterSeconds = null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * @typedef {object} Question
 * @property {string} [method]
 * @property {string} [org] slug of the organization that is meant
 * @property {unknown} [body]
 * @property {AbortSignal} [signal]
 */

/**
 * Returns the body and status of the response. Throws a `Refusal`, or the signal's reason. Without a session it goes to
 * the sign-in page and never resolves.
 *
 * @param {string} path
 * @param {Question} [question]
 */
export async function ask(path, question = {}) {
  const answer = await send(path, question);
  if (answer.status === 401) return leaveForSignIn();
  hasSession = true;
  if (!answer.ok) throw await toRefusal(answer);
  return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
}

/**
 * Returns why a file cannot be downloaded, or `null` if it can. Sends HEAD.
 *
 * @param {string} path
 * @returns {Promise<Refusal | null>}
 */
export async function findDownloadRefusal(path) {
  const answer = await send(path, { method: "HEAD" });
  if (answer.status === 401) return leaveForSignIn();
  // A response to HEAD has no body.
  return answer.ok ? null : toRefusal(answer);
}

/**
 * The address of a path of the API, for links.
 *
 * @param {string} path
 */
export function apiUrl(path) {
  return API + path;
}

/**
 * Goes to the sign-in page, which leads back here. It says that the session has ended if there was one.
 *
 * @returns {Promise<never>}
 */
function leaveForSignIn() {
  const { pathname, search } = location;
  location.replace(`${SIGN_IN}?next=${encodeURIComponent(pathname + search)}${hasSession ? "&ended" : ""}`);
  return new Promise(() => {});
}

/**
 * @param {string} path
 * @param {Question} question
 */
async function send(path, { method = "GET", org, body, signal }) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (org !== undefined) headers["X-Org-Slug"] = org;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(apiUrl(path), {
      method,
      headers,
      cache: "no-store",
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Refusal({ status: 0, code: "UNREACHABLE", message: String(error) });
  }
}

/** @param {Response} answer */
async function toRefusal(answer) {
  const retryAfter = Number(answer.headers.get("retry-after"));
  const text = await answer.text();
  return new Refusal({
    status: answer.status,
    code: "",
    message: "",
    requestId: answer.headers.get("x-request-id") ?? "",
    ...parseError(text),
    retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
  });
}

/**
 * Returns the error in a response body; nothing for the page of a proxy.
 *
 * @param {string} text
 * @returns {{ code?: string, message?: string, details?: Details }}
 */
function parseError(text) {
  try {
    return JSON.parse(text).error ?? {};
  } catch {
    return {};
  }
}
