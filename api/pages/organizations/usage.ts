/** /orgs/{slug}/usage: definitions and executions of an organization, for its members. */
import { getOrganizationUsage } from "../../accounts/organizations/own_orgs.ts";
import { getExecutionStatistics } from "../../definitions/executions.ts";
import { listDefinitions } from "../../definitions/list.ts";
import type { ListedDefinition } from "../../definitions/schemas.ts";
import type { ResponseOf } from "../api_client.ts";
import { renderBarPlot } from "../bar_plot.ts";
import { listedPath, renderDraftLink } from "../definitions/listed_version.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { emptyState, formatCount, recordTable } from "../parts.ts";
import { orgPage } from "./org_page.ts";

/** The number of definitions whose executions are shown. The API counts executions per definition. */
const SHOWN = 10;
const WINDOW_DAYS = 30;

type Executions = ResponseOf<typeof getExecutionStatistics>["data"];

/** A definition with its executions. */
interface UsedDefinition {
  definition: ListedDefinition;
  executions: Executions;
}

export async function showUsage(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const { data: counts } = await page.call(getOrganizationUsage, { params: { slug } });
  const query = { publishedFirst: true, sortBy: "executionCount", limit: SHOWN };
  const { data: list } = await page.call(listDefinitions, { query, org: slug });
  const used: UsedDefinition[] = [];
  for (const definition of list.definitions) {
    if (definition.executionCount > 0)
      used.push({ definition, executions: await loadExecutions(page, definition) });
  }
  const org = findOwnOrg(page, slug);
  return orgPage(page, {
    slug,
    tab: "usage",
    body: html`${org?.subscriptionTier === "free" && renderFreeTier(page.deps.config.supportContact)}
${renderCounts(counts)}${renderExecutions(used)}`,
  });
}

async function loadExecutions(page: SignedInPage, definition: ListedDefinition): Promise<Executions> {
  const { type, namespace, version } = definition;
  const { data } = await page.call(getExecutionStatistics, {
    params: { type, name: `${namespace}@${version}` },
    query: { window: WINDOW_DAYS * 24 * 60, timeBucket: "day", include: "byTime" },
  });
  return data;
}

/** Renders the features of a subscription and the contact for it. */
function renderFreeTier(contact: string | null): Html {
  const name = contact?.replace(/^(mailto|tel):/, "");
  return html`<section class="card stack" id="subscription" aria-labelledby="subscription-title">
  <h2 id="subscription-title">Free tier</h2>
  <p>With a paid subscription, members can export projects and the whole organization, and compare the content of versions. The limit on definitions is ten times higher.</p>
  <p>${contact === null ? "Ask the operator of this service for one." : html`Ask for one: <a href="${contact}">${name}</a>`}</p>
</section>`;
}

function renderCounts(counts: ResponseOf<typeof getOrganizationUsage>["data"]): Html {
  return html`<section class="stack" aria-labelledby="counts-title">
  <h2 id="counts-title">Definitions</h2>
  <dl class="figures">
    <div><dt>Public</dt><dd>${formatCount(counts.public)}</dd></div>
    <div><dt>Private and unlisted</dt><dd>${formatCount(counts.private)}</dd></div>
    <div><dt>Total</dt><dd>${formatCount(counts.total)}</dd></div>
  </dl>
  <p class="quiet">Archived definitions do not count.</p>
</section>`;
}

/** Renders the executions per day of all definitions together, and the executions per definition. */
function renderExecutions(used: readonly UsedDefinition[]): Html {
  const isCut = used.length === SHOWN;
  return html`<section class="stack" aria-labelledby="executions-title">
  <h2 id="executions-title">Executions</h2>
  ${
    used.length === 0
      ? emptyState("No executions yet.")
      : html`${isCut && html`<p class="quiet">Of the ${SHOWN} definitions with the most executions.</p>`}
  <div class="card">${renderBarPlot({
    title: "Executions by day, last 30 days (UTC)",
    columns: { label: "Day", value: "Executions" },
    bars: sumByDay(used),
  })}</div>
  ${renderUsed(used)}`
  }
</section>`;
}

/** Sums up the executions per day. All definitions have the same days, unless midnight passed between two requests. */
function sumByDay(used: readonly UsedDefinition[]) {
  const counts = new Map<string, number>();
  for (const { time, count } of used.flatMap(({ executions }) => executions.byTime ?? [])) {
    const day = time.slice(0, 10);
    counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([label, value]) => ({ label, value }));
}

function renderUsed(used: readonly UsedDefinition[]): Html {
  const rows = used.map(({ definition, executions }): Content[] => [
    html`<a href="${listedPath(definition)}">${definition.displayName}</a> ${renderDraftLink(definition)}`,
    definition.type,
    executions.recentCount,
    definition.executionCount,
  ]);
  return recordTable("Executions by definition", ["Definition", "Type", "Last 30 days", "Total"], rows);
}
