/** An organization with signed-in members and outsiders who open its pages. */
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { openTestApp, type TestApp } from "../http/app.ts";
import type { OrgRow, UserRow } from "../postgres/factory.ts";
import { formTokenIn, openPage, type SentForm, sendForm } from "./forms.ts";

/** A hostile text for names, descriptions and user agents. It must never become markup. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>`;

export interface Visitor {
  user: UserRow;
  token: string;
}

export interface PageScene extends AsyncDisposable {
  api: TestApp;
  org: OrgRow;
  owner: Visitor;
  /** Creates a signed-in member with this role, or a signed-in outsider. */
  visitor(role: OrgRole | "outsider"): Promise<Visitor>;
}

/** Opens the scene. The organization has the name HOSTILE. `await using` drops the database. */
export async function openPageScene(): Promise<PageScene> {
  const api = await openTestApp({
    config: { rateLimitAnonymousPerMinute: 100_000, rateLimitUserPerMinute: 100_000 },
  });
  const { org, user } = await api.make.person({ role: "owner" });
  await api.db.owner`update organizations set name = ${HOSTILE} where id = ${org.id}`;
  const signIn = async (someone: UserRow): Promise<Visitor> => {
    return { user: someone, token: (await api.make.session({ userId: someone.id })).token };
  };
  return {
    api,
    org,
    owner: await signIn(user),
    async visitor(role) {
      const person = await api.make.person(role === "outsider" ? {} : { org, role });
      return signIn(person.user);
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** Opens a page and returns its HTML. Throws unless the status is 200, or if the hostile text became markup. */
export async function readPage(api: TestApp, path: string, token?: string): Promise<string> {
  const response = await openPage(api, path, token);
  if (response.status !== 200) throw new Error(`Cannot open ${path}: status ${response.status}`);
  return requireEscaped(await response.text());
}

/** Returns the page. Throws if the hostile text became markup. */
export function requireEscaped(page: string): string {
  if (page.includes("<script>") || page.includes("<img src=x"))
    throw new Error(`Markup in the page: ${page}`);
  return page;
}

/** Returns the hidden fields of the first form after `heading`. Throws if there is no such form. */
export function hiddenFields(page: string, heading = ""): Record<string, string> {
  const [, after] = page.slice(page.indexOf(heading)).split('<form method="post"');
  if (!page.includes(heading) || after === undefined)
    throw new Error(`Cannot find the form after "${heading}"`);
  const [form = ""] = after.split("</form>");
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, value]));
}

/** Opens a page and sends the first form after `heading`, including the form's hidden fields. */
export async function submitForm(
  api: TestApp,
  path: string,
  given: { token: string; heading?: string; fields: Readonly<Record<string, string>>; send?: SentForm },
): Promise<Response> {
  const { token, heading, fields, send = {} } = given;
  const page = await readPage(api, path, token);
  const hidden = hiddenFields(page, heading);
  return sendForm(api, path, { ...hidden, ...fields }, { token, formToken: formTokenIn(page), ...send });
}
