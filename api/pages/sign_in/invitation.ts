/** /invitation: the page that an invitation's link opens. Only its button accepts, because mail scanners open the link. */
import { ApiError } from "../../../shared/errors.ts";
import { acceptInvitation, previewInvitation } from "../../accounts/members/accept_invitation.ts";
import { orgPath, signInPath, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { ACCOUNT_SCRIPT, type PageContent } from "../layout.ts";
import { type Page, type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { renderInstant } from "../parts.ts";
import { cardPage } from "./card_page.ts";
import { endSession } from "./sign_in.ts";

type Offer = ResponseOf<typeof previewInvitation>["data"];

export async function showInvitation(page: Page): Promise<PageResult> {
  const token = page.url.searchParams.get("token") ?? "";
  return orRefusal(page, token, async () => {
    const { data } = await page.call(previewInvitation, { body: { token } });
    const { session } = page;
    return session ? renderOffer({ ...page, session }, data, token) : renderSignedOut(page, data, token);
  });
}

/** Accepts an invitation, or signs out so that the user can sign in with the invited address. */
export async function answerInvitation(page: SignedInPage): Promise<PageResult> {
  const token = page.url.searchParams.get("token") ?? "";
  if (page.form.get("action") === "sign-out") return endSession(page, addressOf(token));
  return orRefusal(page, token, async () => {
    const { data } = await page.call(acceptInvitation, { body: { token } });
    return seeOtherWith(orgPath(data.organization.slug), "joined");
  });
}

function addressOf(token: string): string {
  return withQuery("/invitation", { token });
}

/** Returns an explanation if the link does not work or is for another email address. */
async function orRefusal(page: Page, token: string, show: () => Promise<PageResult>): Promise<PageResult> {
  try {
    return await show();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "VALIDATION_ERROR") return { ...renderDead(page), status: error.status };
    const email = error.details?.["email"];
    if (error.code !== "ORG_ACCESS_DENIED" || typeof email !== "string" || !page.session) throw error;
    return { ...renderOtherAccount({ ...page, session: page.session }, email, token), status: error.status };
  }
}

function describeOffer({ organization, role, email, invitedBy, expiresAt }: Offer): Html {
  return html`<p><b>${invitedBy}</b> invites you to the organization <b>${organization.name}</b> <span class="quiet">@${organization.slug}</span>.</p>
  <dl class="facts">
    <dt>Role</dt><dd>${role}</dd>
    <dt>Email</dt><dd>${email}</dd>
    <dt>Expires</dt><dd>${renderInstant(expiresAt)}</dd>
  </dl>`;
}

function renderSignedOut({ deps }: Page, offer: Offer, token: string): PageContent {
  const address = addressOf(token);
  const isOff = deps.config.signUp === "off";
  const advice = isOff
    ? "Sign in with this address. You will return to this page. If you have no account, ask an operator for one."
    : "Sign in with this address, or sign up with it if you have no account. You will return to this page.";
  return cardPage({
    title: "You are invited",
    body: html`${describeOffer(offer)}
  <p>${advice}</p>
  <div class="actions"><a class="button primary" href="${signInPath(address)}">Sign in</a>${!isOff && html` <a class="button" href="${withQuery("/sign-up", { next: address })}">Sign up</a>`}</div>`,
  });
}

function renderOffer({ session }: SignedInPage, offer: Offer, token: string): PageContent {
  const { user } = session;
  return cardPage({
    title: "You are invited",
    body: html`${describeOffer(offer)}
  <form method="post" action="${addressOf(token)}">${tokenField(session)}
    <div class="actions"><button type="submit" class="primary">Join ${offer.organization.name}</button> <a class="button" href="/">Not now</a></div>
  </form>
  <p class="quiet">You are signed in as ${user.username}.</p>`,
  });
}

function renderOtherAccount({ session }: SignedInPage, email: string, token: string): PageContent {
  const { user } = session;
  return cardPage({
    title: "This invitation is for another account",
    head: ACCOUNT_SCRIPT,
    body: html`<p role="alert">It is for ${email}. You are signed in as ${user.username} with the address ${user.email}.</p>
  <form method="post" action="${addressOf(token)}">${tokenField(session)}
    <div class="actions"><button type="submit" class="primary" name="action" value="sign-out">Sign out and continue</button> <a class="button" href="/">Cancel</a></div>
  </form>`,
  });
}

function renderDead({ session }: Page): PageContent {
  return cardPage({
    title: "This invitation no longer works",
    body: html`<p role="alert">It has been used, revoked or replaced by a newer one, or it has expired.</p>
  <p>Ask for a new invitation. If you used it yourself, you are already a member.</p>
  <p><a class="button" href="/">${session ? "Go to the start page" : "Go to ulr"}</a></p>`,
  });
}
