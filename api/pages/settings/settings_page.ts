/** The frame of the settings pages: heading, tabs, notices and errors. */
import { problemSummary } from "../forms.ts";
import { type Content, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import { renderNotice } from "../notice.ts";
import type { SignedInPage } from "../page.ts";
import { tabBar } from "../parts.ts";

const TABS = [
  { path: "/settings/profile", label: "Profile" },
  { path: "/settings/organizations", label: "Organizations" },
  { path: "/settings/keys", label: "API keys" },
  { path: "/settings/second-factor", label: "Second factor" },
  { path: "/settings/sessions", label: "Sessions" },
] as const;

interface SettingsContent extends Pick<PageContent, "head" | "status"> {
  body: Content;
  /** Texts of the notices, by name. */
  notices?: Readonly<Record<string, string>>;
}

/** Returns a settings page. `url.pathname` is the path of the current tab. */
export function settingsPage(
  { url, notice, problems }: SignedInPage,
  { body, notices = {}, head, status }: SettingsContent,
): PageContent {
  const current = TABS.find(({ path }) => path === url.pathname);
  const tabs = TABS.map(({ path, label }) => [path, label, path === url.pathname] as const);
  return {
    title: current ? `${current.label} · Settings` : "Settings",
    section: "settings",
    head,
    status,
    main: html`<h1>Settings</h1>
${tabBar("Settings", tabs)}
${renderNotice(notice, notices)}${problemSummary(problems)}
${body}`,
  };
}
