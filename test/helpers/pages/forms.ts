/** Opens pages and sends forms with the headers, cookies and form token of a browser. */
import type { TestApp } from "../http/app.ts";

export const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

/** Opens a page, signed in if `token` is given. `org` is the slug of the selected organization. */
export function openPage(api: TestApp, path: string, token?: string, org?: string): Promise<Response> {
  const cookies = [token && `ulr_session=${token}`, org && `ulr_org=${org}`].filter(Boolean);
  const cookie = cookies.length > 0 ? { cookie: cookies.join("; ") } : {};
  return api.request(path, { headers: { ...BROWSER, ...cookie } });
}

/** Opens the page that a form redirects to. Returns the page's notice, or null if the page has no notice. */
export async function noticeAfter(api: TestApp, sent: Response, token: string): Promise<string | null> {
  const cookies = sent.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const cookie = [`ulr_session=${token}`, ...cookies].join("; ");
  const page = await api.request(sent.headers.get("location") ?? "", { headers: { ...BROWSER, cookie } });
  const [, notice = null] =
    /<p class="notice" role="status" data-done="[^"]*">([^<]*)</.exec(await page.text()) ?? [];
  return notice;
}

/** Returns the form token of a page. */
export function formTokenIn(page: string): string {
  const [, formToken] = /name="form_token" value="([^"]+)"/.exec(page) ?? [];
  if (!formToken) throw new Error("Cannot find a form token in the page");
  return formToken;
}

export interface SentForm {
  /** The session token to send as a cookie. */
  token?: string;
  /** The form token of a page. If it is omitted and `token` is given, it is read from the start page. */
  formToken?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Returns the hidden fields of the forms on a user's start page, with a new request id. */
async function hiddenFieldsOf(api: TestApp, token: string): Promise<Record<string, string>> {
  const page = await (await openPage(api, "/", token)).text();
  const [, org] = /name="org" value="([^"]+)"/.exec(page) ?? [];
  const request_id = crypto.randomUUID();
  return { form_token: formTokenIn(page), request_id, ...(org === undefined ? {} : { org }) };
}

/** Sends a form as our pages do. If `formToken` is omitted and `token` is given, adds the hidden fields of the start page. */
export async function sendForm(
  api: TestApp,
  path: string,
  fields: Readonly<Record<string, string>>,
  { token, formToken, headers = {} }: SentForm = {},
): Promise<Response> {
  const hidden =
    formToken !== undefined ? { form_token: formToken } : token ? await hiddenFieldsOf(api, token) : {};
  return api.request(path, {
    method: "POST",
    headers: {
      ...BROWSER,
      ...(token ? { cookie: `ulr_session=${token}` } : {}),
      "content-type": "application/x-www-form-urlencoded",
      origin: "http://localhost",
      "sec-fetch-site": "same-origin",
      ...headers,
    },
    body: new URLSearchParams({ ...hidden, ...fields }).toString(),
  });
}
