/** The frame of a definition's pages: breadcrumb, title, badges, tags and tabs. */
import type { Definition } from "../../../sql/definitions/fields.ts";
import { splitAddress } from "../../definitions/address.ts";
import { getDefinition } from "../../definitions/read.ts";
import { definitionPath, orgPath, withQuery } from "../addresses.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { badge, formatCount, renderDay, tabBar } from "../parts.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

/** A definition as returned by GET /definitions/{type}/{name}, with the page's address. */
export interface ShownDefinition extends Definition {
  address: PageAddress;
}

/** Loads the definition at an address. The texts are omitted unless `withTexts` is true. Throws NOT_FOUND. */
export async function loadDefinition(
  page: Page,
  address: PageAddress,
  { withTexts = false } = {},
): Promise<ShownDefinition> {
  const { data } = await page.call(getDefinition, {
    params: apiParams(address),
    query: { includeYaml: withTexts, includeRuntime: withTexts },
  });
  return { ...data, address };
}

interface TabContent extends Pick<PageContent, "head"> {
  /** The key of the tab; null for the first tab. */
  tab: keyof typeof TAB_LABELS | null;
  body: Html;
}

/** Tab labels by the last segment of the tab's path. */
const TAB_LABELS = {
  yaml: "YAML",
  versions: "Versions",
  compare: "Compare",
  dependencies: "Dependencies",
  dependents: "Used by",
  forks: "Forks",
  usage: "Usage",
} as const;

/** Returns the page of a tab, with its content in the definition's frame. */
export function frameTab(definition: ShownDefinition, { tab, body, head }: TabContent): PageContent {
  const { displayName, description, address } = definition;
  const about = tab === null ? displayName : `${TAB_LABELS[tab]} · ${displayName}`;
  return {
    title: `${about} · ${address.type} @${address.organization}/${address.name}`,
    section: "definitions",
    head: html`<meta name="description" content="${description}">${head}`,
    main: html`<div class="stack">${renderBreadcrumb(address)}
<div class="title">
  <h1>${displayName}</h1>
  ${renderBadges(definition)}
</div>
<p class="lead">${description}</p>
${renderTags(definition.tags)}</div>
${renderNotices(definition)}
${renderTabs(definition, tab)}
${body}`,
  };
}

function renderBreadcrumb({ type, organization }: PageAddress): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><a href="/definitions">Definitions</a> /
<a href="${withQuery("/definitions", { type })}">${type}</a> / <a href="${orgPath(organization)}">@${organization}</a></nav>`;
}

function renderBadges({ version, status, type, agentType, visibility }: ShownDefinition): Html {
  return html`${versionBadge({ version, status })}
  ${badge([type, agentType !== null && ` · ${agentType}`])}
  ${visibility === "private" && badge("private")}`;
}

const STATUS_LOOKS: Readonly<Record<string, string>> = { published: "good", deprecated: "bad" };

/** Renders a version and, unless it is published, its status. */
export function versionBadge({ version, status }: Pick<Definition, "version" | "status">): Html {
  return badge([version, status !== "published" && ` ${status}`], STATUS_LOOKS[status]);
}

export function statusBadge(status: Definition["status"]): Html {
  return badge(status, STATUS_LOOKS[status]);
}

/** Renders tags, each as a link to the definitions with this tag. */
export function renderTags(tags: readonly string[]): Content {
  if (tags.length === 0) return null;
  const items = tags.map(
    (tag) => html`<li><a class="tag" href="${withQuery("/definitions", { tag })}">${tag}</a></li>`,
  );
  return html`<ul class="tags" aria-label="Tags">${items}</ul>`;
}

function renderNotices({
  deprecatedAt,
  deprecationReason,
  successor,
  quarantinedAt,
  quarantineReason,
  address,
}: ShownDefinition): Content {
  return [
    deprecatedAt !== null &&
      html`<p class="notice">${address.version === null ? "All versions are deprecated, this one since" : "Deprecated since"} ${renderDay(deprecatedAt)}.${deprecationReason && ` ${deprecationReason}`}${
        successor !== null &&
        html` Use <a href="${successorPath(successor, address)}">${successor}</a> instead.`
      }</p>`,
    quarantinedAt !== null &&
      html`<p class="problem">Quarantined by an operator since ${renderDay(quarantinedAt)}. Only members can see this version.${
        quarantineReason && ` ${quarantineReason}`
      }</p>`,
  ];
}

/** Renders the reason why a document cannot be rendered as Markdown, such as `missing invokes at command.invokes`. */
export function renderTranslationError({ reason, path }: NonNullable<Definition["translationError"]>): Html {
  return html`${reason.replaceAll("_", " ")}${path && html` at <code>${path}</code>`}`;
}

/** Returns the path of a successor. Without an organization, the successor belongs to the same organization. */
function successorPath(successor: string, { type, organization }: PageAddress): string {
  const { orgSlug, name, version } = splitAddress(successor);
  return definitionPath({ type, organization: orgSlug ?? organization, name, version });
}

function renderTabs({ address, forkCount }: ShownDefinition, current: TabContent["tab"]): Html {
  const tabs = Object.entries(TAB_LABELS).map(([tab, label]) => {
    const count = tab === "forks" && forkCount > 0 && ` ${formatCount(forkCount)}`;
    return [definitionPath(address, tab), [label, count], tab === current] as const;
  });
  return tabBar("Definition", [[definitionPath(address), "Prompt", current === null], ...tabs]);
}
