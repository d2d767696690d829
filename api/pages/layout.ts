/** The frame of every page: head, navigation, organization switcher, account, main content. */
import { tokenField } from "./forms.ts";
import { type Content, type Html, html } from "./html.ts";
import type { PageOrg, PageSession } from "./page_session.ts";

/** The entries of the navigation. */
export type Section = "exports" | "definitions" | "models" | "organization" | "settings" | "docs";

export interface PageContent {
  /** Of the browser's tab; the h1 is part of `main`. */
  title: string;
  /** The entry of the navigation that the page belongs to. */
  section: Section | null;
  /** Inside of `<main>`; has the page's one h1. */
  main: Html;
  /** More elements of `<head>`: modules, alternates, `<meta name="description">`. */
  head?: Content;
  /** 200 when left out. */
  status?: number;
  /** The organization that the page is about, where `?org=` does not say it. */
  org?: PageOrg;
  /** Whether the header shows neither the account nor the link to sign in. */
  hidesAccount?: true;
  /** The address has a secret: no request has it as its referrer, and no cache keeps the page. */
  hidesAddress?: true;
}

export interface Frame extends PageContent {
  /** Left out where it is unknown: on error pages. */
  session?: PageSession | null;
  /** Path and query of the page. Signing in leads back to it, choosing an organization to its path. */
  address: string;
}

/** Before the page is painted, so that the header does not move. */
const ORG_SWITCH = html`<script type="module" blocking="render" src="/dashboard/assets/org_switch.js"></script>`;

/** Returns the whole page. */
export function renderPage({ title, section, main, head, session, address }: Frame): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ulr</title>
<link rel="icon" type="image/svg+xml" href="/dashboard/assets/favicon.svg">
<link rel="stylesheet" href="/dashboard/assets/style.css">
${session && ORG_SWITCH}
${head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
  <a class="brand" href="/"><img src="/dashboard/assets/favicon.svg" alt="" width="24" height="24"> ulr</a>
  <nav class="nav" aria-label="Main">${entriesFor(session).map((entry) => renderEntry(entry, section))}</nav>
  ${session !== undefined && renderAccount(session, address)}
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

/** Pages about one organization carry it in their address, so that tabs can have different ones. */
function entriesFor(session: PageSession | null | undefined): Entry[] {
  const org = session?.org;
  const inOrg = org ? `?org=${encodeURIComponent(org.slug)}` : "";
  return [
    { section: "exports", label: "Exports", href: `/dashboard/exports${inOrg}` },
    { section: "definitions", label: "Definitions", href: `/definitions${inOrg}` },
    { section: "models", label: "Models", href: `/models${inOrg}` },
    ...(org
      ? [{ section: "organization" as const, label: "Organization", href: `/orgs/${org.slug}${inOrg}` }]
      : []),
    ...(session
      ? [{ section: "settings" as const, label: "Settings", href: `/settings/profile${inOrg}` }]
      : []),
    { section: "docs", label: "API docs", href: "/swagger" },
  ];
}

function renderEntry({ section, label, href }: Entry, current: Section | null): Html {
  return html`<a href="${href}"${section === current && html` aria-current="page"`}>${label}</a>`;
}

function renderAccount(session: PageSession | null, address: string): Html {
  if (!session) {
    return html`<div class="account"><a class="button" href="${signInPath(address)}">Sign in</a></div>`;
  }
  const { user, organizations, org } = session;
  const [path = "/"] = address.split("?");
  const options = organizations.map(
    ({ slug, name }) =>
      html`<option value="${slug}"${slug === org?.slug && html` selected`}>${name}</option>`,
  );
  return html`<div class="account" id="account">
    ${
      organizations.length > 0 &&
      html`<form class="org" method="get" action="${path}">
      <label class="visually-hidden" for="org">Organization</label> <select id="org" name="org" autocomplete="off">${options}</select>
      <button type="submit">Switch</button>
    </form>`
    }
    <span class="who" id="who">${user.name ?? user.username}</span>
    <form method="post" action="/dashboard/sign-out">${tokenField(session)}
      <button type="submit" id="sign-out">Sign out</button></form>
  </div>`;
}

/** The address of the sign-in page that leads back to `address`, a path with its query. */
export function signInPath(address: string): string {
  return `/dashboard/sign-in?next=${encodeURIComponent(address)}`;
}
