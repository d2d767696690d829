/** POST /dashboard/sign-out: ends the session of a form. */
import { logout } from "../../accounts/logout.ts";
import { type Page, seeOther } from "../page.ts";
import { CLEARED_ORG } from "../page_session.ts";
import { SIGN_IN_PATH } from "./next_path.ts";

/** Ends the session and leads to the sign-in page, also if it has already ended. */
export async function signOut({ session, send }: Page): Promise<Response> {
  if (!session) return seeOther(SIGN_IN_PATH);
  const { headers } = await send(logout);
  const response = seeOther(SIGN_IN_PATH, { "Clear-Site-Data": headers.get("clear-site-data") ?? "" });
  for (const cookie of [...headers.getSetCookie(), CLEARED_ORG])
    response.headers.append("Set-Cookie", cookie);
  return response;
}
