/** The column beside the text of a definition: executions, versions, model, tools, safety scan, maintainers, forks. */
import { mayWriteDefinitions } from "../../../shared/policy.ts";
import type { getExecutionStatistics } from "../../definitions/executions.ts";
import type { listVersions } from "../../definitions/versions.ts";
import type { SafetyScan } from "../../documents/safety_scan.ts";
import type { resolveModelAlias } from "../../models/models.ts";
import { definitionPath, modelPath, orgPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageSession } from "../page_session.ts";
import { badge, formatCount, formatPrice, renderDay } from "../parts.ts";
import type { ShownDefinition } from "./definition_frame.ts";

type Executions = ResponseOf<typeof getExecutionStatistics>["data"];
type PricedModel = ResponseOf<typeof resolveModelAlias>["data"]["model"];

export interface SideData {
  executions: Executions;
  versions: ResponseOf<typeof listVersions>["data"];
  /** The model alias in the document, or null. */
  alias: string | null;
  /** The model; null if it is not in the catalog. */
  model: PricedModel | null;
  /** The name of the version's author; null if unknown. */
  publisher: string | null;
  /** Whether the current organization can fork the definition. */
  forkable: boolean;
  session: PageSession | null;
}

export function renderSide(definition: ShownDefinition, data: SideData): Content {
  return [
    renderExecutions(definition, data),
    renderVersions(definition, data),
    data.alias !== null && section("Model", renderModel(data.alias, data.model)),
    renderSafety(definition),
    renderMaintainers(definition, data),
    renderManage(definition, data),
  ];
}

function section(title: string, body: Content): Html {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, "-");
  return html`<section aria-labelledby="side-${id}"><h2 id="side-${id}">${title}</h2>
${body}</section>
`;
}

function renderExecutions({ address }: ShownDefinition, { executions }: SideData): Html {
  const { recentCount, byTime = [] } = executions;
  const label = `Executions per day, last 30 days: ${recentCount} in total`;
  return section(
    "Executions, last 30 days",
    html`<p class="figure"><a href="${definitionPath(address, "usage")}">${formatCount(recentCount)}</a></p>
${drawBars(byTime, label)}`,
  );
}

function renderVersions(
  { address, version }: ShownDefinition,
  { versions: { versions, total } }: SideData,
): Html {
  const items = versions.map(
    (item) =>
      html`<li><a href="${definitionPath({ ...address, version: item.version })}"${
        item.version === version && html` aria-current="true"`
      }>${item.version}</a>${item.status !== "published" && html` ${badge(item.status)}`} <span class="quiet">${item.changeSummary}</span></li>`,
  );
  const line = { ...address, version: null };
  return section(
    "Versions",
    html`<ul class="plain">${items}</ul>
${total > versions.length && html`<p><a href="${definitionPath(line, "versions")}">All ${total} versions</a></p>`}
${total > 1 && html`<p><a href="${definitionPath(line, "compare")}">Compare versions</a></p>`}`,
  );
}

/** Renders the tools and findings of the safety scan, which runs at publishing. */
function renderSafety({ riskProfile, publishedAt }: ShownDefinition): Content {
  const scan = (riskProfile as { sync: SafetyScan } | null)?.sync ?? null;
  if (scan === null) {
    const reason = publishedAt === null ? "The scan runs when you publish this version." : "The scan failed.";
    return section("Safety scan", html`<p class="quiet">${reason}</p>`);
  }
  const { tools } = scan.capabilities;
  return [
    tools.length > 0 &&
      section(
        "Tools",
        html`<ul class="tags">${tools.map((tool) => html`<li class="tag">${tool}</li>`)}</ul>`,
      ),
    section("Safety scan", scan.signals.length === 0 ? html`<p>No findings</p>` : renderSignals(scan)),
  ];
}

/** The maximum number of findings. A longer list would exceed the text beside it. */
const SHOWN_SIGNALS = 10;

function renderSignals({ signals }: SafetyScan): Html {
  const items = signals.slice(0, SHOWN_SIGNALS).map(
    ({ severity, title, detail, location }) =>
      html`<li>${badge(severity, severity === "high" ? "bad" : "")} ${title}
<p class="quiet"><code>${location}</code>: ${detail}</p></li>`,
  );
  const hidden = signals.length - SHOWN_SIGNALS;
  return html`<ul class="plain">${items}</ul>${hidden > 0 && html`<p class="quiet">and ${hidden} more</p>`}`;
}

function renderMaintainers(definition: ShownDefinition, { publisher }: SideData): Html {
  const { author, provenance, address, version, publishedAt, createdAt } = definition;
  const names = (provenance?.contributors ?? []).flatMap(({ name, agentName, role }) => {
    const shown = name ?? agentName;
    return shown ? [html`<li>${shown} <span class="quiet">${role}</span></li>`] : [];
  });
  const items = names.length > 0 || author === null ? names : [html`<li>${author}</li>`];
  const org = html`<li><a href="${orgPath(address.organization)}">@${address.organization}</a></li>`;
  const since = publishedAt ?? createdAt;
  return section(
    "Maintainers",
    html`<ul class="plain">${items}${org}</ul>
<p class="quiet">${version} ${publishedAt === null ? "created" : "published"} ${renderDay(since)}${publisher !== null && ` by ${publisher}`}</p>`,
  );
}

/** The labels of the link to the edit page. */
const EDIT_LABELS: Readonly<Record<ShownDefinition["status"], string>> = {
  draft: "Edit or publish",
  published: "New version or deprecate",
  deprecated: "New version or archive",
  archived: "New version",
};

/** Renders the visitor's actions: forking the definition and, for publishers of its organization, editing it. */
function renderManage(
  { address, version, status }: ShownDefinition,
  { session, forkable }: SideData,
): Content {
  const own = session?.organizations.find(({ slug }) => slug === address.organization);
  const mayEdit = own !== undefined && mayWriteDefinitions(own.role).ok;
  if (!forkable && !mayEdit) return null;
  const shown = { ...address, version };
  return section(
    "Manage",
    html`<p class="actions">
${mayEdit && html`<a class="button primary" href="${definitionPath(shown, "edit")}">${EDIT_LABELS[status]}</a>`}
${forkable && html`<a class="button${!mayEdit && " primary"}" href="${definitionPath(shown, "fork")}">Fork to ${session?.org?.name}</a>`}
</p>`,
  );
}

/** Renders the alias, its model, and the model's prices per million tokens. */
function renderModel(alias: string, model: PricedModel | null): Html {
  if (model === null) return html`<p><code>${alias}</code></p>`;
  const { name, cost } = model;
  return html`<p><code>${alias}</code> → <a href="${modelPath(model)}">${name}</a></p>
<p class="quiet">${cost === null ? "No known price" : describeCost(cost)}</p>`;
}

/** Returns the prices per million tokens: `$2.00 in, $10.00 out per 1M tokens`. */
export function describeCost({ input, output }: NonNullable<PricedModel["cost"]>): string {
  const prices = [input, output].map((price) => (price === undefined ? "unknown" : formatPrice(price)));
  return `${prices.join(" in, ")} out per 1M tokens`;
}

/** The size of the SVG's view box, which is scaled to the available width. */
const BARS = { width: 300, height: 48 };

/**
 * Draws one bar per bucket. The highest bar fills the height, and any count above zero is visible. The label tells screen
 * readers what the bars count.
 */
export function drawBars(counts: NonNullable<Executions["byTime"]>, label: string): Html {
  const { width, height } = BARS;
  const max = Math.max(1, ...counts.map(({ count }) => count));
  const step = width / Math.max(1, counts.length);
  const bars = counts.map(({ time, count }, index) => {
    const barHeight = count === 0 ? 1 : Math.max(2, (count / max) * height);
    const x = (index * step).toFixed(2);
    const y = (height - barHeight).toFixed(2);
    return html`<rect x="${x}" y="${y}" width="${(step * 0.8).toFixed(2)}" height="${barHeight.toFixed(2)}"${
      count === 0 && html` class="zero"`
    }><title>${time.slice(0, 10)}: ${count}</title></rect>`;
  });
  return html`<svg class="bars" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}
