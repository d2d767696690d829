/** The frame of every page: head, navigation, organization switcher, account, main content. */
import { EXPORTS_PATH, orgPath, signInPath } from "./addresses.ts";
import { renderOptions, tokenField } from "./forms.ts";
import { type Content, type Html, html } from "./html.ts";
import type { PageOrg, PageSession } from "./page_session.ts";

/** The entries of the navigation. */
export type Section = "exports" | "definitions" | "models" | "organization" | "settings" | "docs";

export interface PageContent {
  /** Title of the browser's tab; the h1 is part of `main`. */
  title: string;
  /** The entry of the navigation that the page belongs to. */
  section: Section | null;
  /** Inside of `<main>`; has the page's one h1. */
  main: Html;
  /** More elements of `<head>`: modules, alternates, `<meta name="description">`. */
  head?: Content;
  /** 200 when left out. */
  status?: number | undefined;
  /** The organization of the caller that the page is about. It becomes the chosen one. */
  org?: PageOrg | null;
  /** Whether the header shows neither the account nor the link to sign in. */
  hidesAccount?: true;
}

interface Frame extends PageContent {
  /** Left out where it is unknown: on error pages. */
  session?: PageSession | null;
  /** Path and query of the page. Signing in leads back to it. */
  address: string;
}

/** Before the page is painted, so that the header does not move. */
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
 * Where choosing another organization leads: to this page, or to the first of its section if this one is about the
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
