/**
 * The session of a page: who is signed in, and where a visitor without one is led (by page.ts). A cookie whose session is
 * over was deleted before, and its visitor is anonymous (http/pipeline/rate_limits.ts).
 */
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import { getMe } from "../accounts/me.ts";
import type { RequestContext } from "../http/request_context.ts";
import { signInPath } from "./addresses.ts";
import { createApiClient, type ResponseOf } from "./api_client.ts";
import { chooseOrg, type PageOrg } from "./chosen_org.ts";
import { formTokenOf } from "./form_token.ts";

export interface PageSession {
  user: ResponseOf<typeof getMe>["data"]["user"];
  organizations: readonly PageOrg[];
  /**
   * The chosen organization; without a choice, the first that is not personal. A form has the one it was rendered for, not
   * what was chosen in another tab meanwhile. Null without one that the caller is a member of.
   */
  org: PageOrg | null;
  /** Goes into the hidden field `form_token` of every form. */
  formToken: string;
}

/** Returns the session of a page's request; null for anonymous visitors, and if it ended after the request was authenticated. */
export async function findSession(
  request: Request,
  context: RequestContext,
  config: Pick<Config, "publicUrl">,
): Promise<PageSession | null> {
  const { caller, callApi } = context;
  const formToken = caller && callApi && formTokenOf(request.headers, config);
  if (!callApi || formToken === null) return null;
  try {
    const { data } = await createApiClient(callApi).call(getMe);
    const { user, organizations } = data;
    return { user, organizations, org: chooseOrg(organizations, context), formToken };
  } catch (error) {
    if (error instanceof ApiError && error.code === "UNAUTHORIZED") return null;
    throw error;
  }
}

/** Returns the sign-in page for a page that needs a session. A form had one, so it has expired; the page says so. */
export function missingSessionPath({ request, url }: Pick<RequestContext, "request" | "url">): string {
  return `${signInPath(url.pathname + url.search)}${request.method === "POST" ? "&ended" : ""}`;
}
