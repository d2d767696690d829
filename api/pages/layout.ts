/** The frame of every page: head, navigation, organization switcher, account, main content. */
import { EXPORTS_PATH, orgPath, signInPath } from "./addresses.ts";
import { renderOptions, tokenField } from "./forms.ts";
import { type Content, type Html, html } from "./html.ts";
import type { PageOrg, PageSession } from "./page_session.ts";

/** An entry of the navigation. */
export type Section = "exports" | "definitions" | "models" | "organization" | "settings" | "docs";

export interface PageContent {
  /** The title of the browser tab. The h1 is part of `main`. */
  title: string;
  /** The page's entry in the navigation. */
  section: Section | null;
  /** The content of `<main>`, with the page's only h1. */
  main: Html;
  /** Additional elements of `<head>`: modules, alternates, `<meta name="description">`. */
  head?: Content;
  /** The HTTP status; 200 if omitted. */
  status?: number | undefined;
  /** The user's organization that the page is about. It becomes the chosen organization. */
  org?: PageOrg | null;
  /** Whether the header hides the account and the sign-in link. */
  hidesAccount?: true;
}

interface Frame extends PageContent {
  /** The session; null for anonymous visitors. If omitted, the header shows neither the account nor a sign-in link. */
  session?: PageSession | null;
  /** The page's path and query, to which the user returns after signing in. */
  address: string;
}

/** The header's script. It runs before the first paint, so that the header does not move. */
export const ACCOUNT_SCRIPT = html`<script type="module" blocking="render" src="/dashboard/assets/account.js"></script>`;

export function renderPage(frame: Frame): Html {
  const { title, section, main, head, session, address } = frame;
  const org = frame.org ?? session?.org ?? null;
  const entries = entriesFor(session, org);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ulr</title>
<link rel="icon" type="image/svg+xml" href="/dashboard/assets/favicon.svg">
<link rel="stylesheet" href="/dashboard/assets/style.css">
${session && ACCOUNT_SCRIPT}
${head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
  <a class="brand" href="/"><img src="/dashboard/assets/favicon.svg" alt="" width="24" height="24"> ulr</a>
  <nav class="nav" aria-label="Main">${entries.map((entry) => renderEntry(entry, section))}</nav>
  ${session === null && html`<div class="account"><a class="button" href="${signInPath(address)}">Sign in</a></div>`}
  ${session && renderAccount(session, org, switchPath(frame, entries))}
</header>
<main id="content" tabindex="-1">
${main}
</main>
</body>
</html>
`;
}

interface Entry {
  section: Section;
  label: string;
  href: string;
}

function entriesFor(session: PageSession | null | undefined, org: PageOrg | null): Entry[] {
  return [
    { section: "exports", label: "Exports", href: EXPORTS_PATH },
    { section: "definitions", label: "Definitions", href: "/definitions" },
    { section: "models", label: "Models", href: "/models" },
    ...(org ? [{ section: "organization" as const, label: "Organization", href: orgPath(org.slug) }] : []),
    ...(session ? [{ section: "settings" as const, label: "Settings", href: "/settings/profile" }] : []),
    { section: "docs", label: "API docs", href: "/swagger" },
  ];
}

/**
 * Returns the target of the organization switcher: this page, or the first page of its section if this page is about an
 * organization.
 */
function switchPath({ org, section, address }: Frame, entries: readonly Entry[]): string {
  const first = org && section !== "organization" && entries.find((entry) => entry.section === section);
  return first ? first.href : (address.split("?")[0] ?? "/");
}

function renderEntry({ section, label, href }: Entry, current: Section | null): Html {
  return html`<a href="${href}"${section === current && html` aria-current="page"`}>${label}</a>`;
}

function renderAccount(session: PageSession, org: PageOrg | null, path: string): Html {
  const { user, organizations } = session;
  const options = renderOptions(
    organizations.map(({ slug, name }) => [slug, name] as const),
    org?.slug,
  );
  return html`<div class="account" id="account">
    ${
      organizations.length > 0 &&
      html`<form class="org" method="get" action="${path}">
      <label class="visually-hidden" for="org">Organization</label> <select id="org" name="org" autocomplete="off">${options}</select>
      <button type="submit">Switch</button>
    </form>`
    }
    <span class="who" id="who" data-user="${user.id}">${user.name ?? user.username}</span>
    <form method="post" action="/dashboard/sign-out">${tokenField(session)}
      <button type="submit" id="sign-out">Sign out</button></form>
  </div>`;
}
