/** POST /dashboard/sign-out: ends the session of a form. */
import { logout } from "../../accounts/logout.ts";
import { type Page, seeOther } from "../page.ts";
import { SIGN_IN_PATH } from "./next_path.ts";

/** Ends the session and leads to the sign-in page, also if it has already ended. */
export async function signOut({ session, send }: Page): Promise<Response> {
  if (!session) return seeOther(SIGN_IN_PATH);
  const { headers } = await send(logout);
  return seeOther(SIGN_IN_PATH, {
    "Set-Cookie": headers.get("set-cookie") ?? "",
    "Clear-Site-Data": headers.get("clear-site-data") ?? "",
  });
}
