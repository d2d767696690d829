/** POST /dashboard/sign-out: ends the session of a form. */
import { requestContext } from "../../http/request_context.ts";
import { type Page, seeOther } from "../page.ts";

/** Ends the session and leads to the start page, also if there is none any more. */
export async function signOut({ request, session }: Page): Promise<Response> {
  const { callApi } = requestContext(request);
  if (!session || !callApi) return seeOther("/");
  const { headers } = await callApi("/auth/logout", { method: "POST" });
  return seeOther("/", {
    "Set-Cookie": headers.get("set-cookie") ?? "",
    "Clear-Site-Data": headers.get("clear-site-data") ?? "",
  });
}
