/** …/compare: the differences between two versions. Changed sections are free. Changed fields and the patch need a paid plan. */
import { diffVersions, listVersions } from "../../definitions/versions.ts";
import { bytesResponse } from "../../http/bytes_response.ts";
import { notFound } from "../../http/require_visible.ts";
import { definitionPath, signInPath, withQuery } from "../addresses.ts";
import { nullIf, type ResponseOf } from "../api_client.ts";
import { renderOptions } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { badge, emptyState, recordTable } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { renderDiff } from "./diff_view.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

/** The maximum number of versions in the select lists. With more versions, the user types a version. */
const MAX_VERSIONS = 100;
const MAX_FIELDS = 200;

const SIGNIFICANCE_LOOKS: Readonly<Record<string, string>> = { breaking: "bad", structural: "busy" };

/** Shown if the user types a version that does not exist. */
const UNKNOWN_VERSION = html`<p class="problem" role="alert">One of these versions does not exist.</p>`;

/** The API's error for fields and patches without a paid plan. */
const UNPAID = ["SUBSCRIPTION_REQUIRED"] as const;

type Diff = ResponseOf<typeof diffVersions>;

interface Versions {
  from: string;
  to: string;
}

type DiffQuery = Versions & { format: "sections" | "fields" | "unified" };

/** Shows a form with two versions and their comparison. By default, compares the shown version with the next lower one. */
export async function showCompare(page: Page, address: PageAddress): Promise<PageResult> {
  const line = { ...address, version: null };
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(listVersions, { params: apiParams(line), query: { limit: MAX_VERSIONS } }),
  ]);
  const versions = data.versions.map(({ version }) => version);
  const chosen = chooseVersions(page.url, versions, address.version);
  const comparison = chosen && (await nullIf(["NOT_FOUND"], renderComparison(page, line, chosen)));
  const shown = frameTab(definition, {
    tab: "compare",
    body: html`${chosen && renderForm(versions, { chosen, total: data.total, path: definitionPath(address, "compare") })}
${chosen === null ? emptyState("There is only one version.") : (comparison ?? UNKNOWN_VERSION)}`,
  });
  return chosen && comparison === null ? { ...shown, status: 404 } : shown;
}

/** Returns the patch as a file. Throws SUBSCRIPTION_REQUIRED without a paid plan. */
export async function downloadPatch(page: Page, address: PageAddress): Promise<Response> {
  const { searchParams } = page.url;
  const [from, to] = [searchParams.get("from") ?? "", searchParams.get("to") ?? ""];
  const { unified = "" } = await page.call(diffVersions, {
    params: apiParams({ ...address, version: null }),
    query: { from, to, format: "unified" },
  });
  return bytesResponse(unified, {
    headers: {
      "Content-Type": "text/x-patch; charset=utf-8",
      "Content-Disposition": `attachment; filename="${address.name}-${from}-${to}.patch"`,
      "Cache-Control": "private, no-store",
    },
  });
}

function chooseVersions(url: URL, versions: readonly string[], shown: string | null): Versions | null {
  const [from, to] = [url.searchParams.get("from"), url.searchParams.get("to")];
  if (from !== null && to !== null) return { from, to };
  const at = shown === null ? 0 : versions.indexOf(shown);
  if (shown !== null && at < 0) return { from: from ?? shown, to: to ?? versions[0] ?? shown };
  // The lowest version is compared with the next higher one.
  const newer = at + 1 < versions.length ? at : at - 1;
  const [next, previous] = [versions[newer], versions[newer + 1]];
  return next === undefined || previous === undefined ? null : { from: from ?? previous, to: to ?? next };
}

function renderForm(
  versions: readonly string[],
  { chosen, total, path }: { chosen: Versions; total: number; path: string },
): Html {
  const isPart = total > versions.length;
  const offered = versions.map((version) => [version, version] as const);
  const choice = (name: "from" | "to", label: string) => {
    const value = chosen[name];
    const options = renderOptions(offered, value);
    return html`<label for="${name}">${label}</label> ${
      isPart
        ? html`<input id="${name}" name="${name}" value="${value}" size="12" required pattern="[0-9]+[.][0-9]+[.][0-9]+" title="MAJOR.MINOR.PATCH" list="${name}-list"><datalist id="${name}-list">${options}</datalist>`
        : html`<select id="${name}" name="${name}">${options}</select>`
    }`;
  };
  return html`<form class="inline-form" method="get" action="${path}">
${choice("from", "From")} ${choice("to", "to")} <button type="submit">Compare</button></form>
${isPart && html`<p class="quiet">The suggestions are the highest ${versions.length} of ${total} versions. You can type any other.</p>`}`;
}

async function renderComparison(page: Page, line: PageAddress, versions: Versions): Promise<Html> {
  const [sections, fields, patch] = await Promise.all([
    compare(page, line, { ...versions, format: "sections" }),
    nullIf(UNPAID, compare(page, line, { ...versions, format: "fields" })),
    nullIf(UNPAID, compare(page, line, { ...versions, format: "unified" })),
  ]);
  const patchPath = withQuery(definitionPath(line, "compare", "patch"), { ...versions });
  return html`${renderSections(sections)}
${
  fields === null || patch === null
    ? html`<p class="notice">Changed fields, their significance, and the patch need a paid plan of one of your organizations.${
        !page.session && html` <a href="${signInPath(page.url.pathname + page.url.search)}">Sign in</a>`
      }</p>`
    : html`${renderFields(fields)}
${renderPatch(patch.unified ?? "", patchPath)}`
}`;
}

/** Compares two versions. Throws NOT_FOUND if one of the versions is invalid. */
async function compare({ call }: Page, line: PageAddress, query: DiffQuery): Promise<Diff> {
  const diff = await nullIf(["VALIDATION_ERROR"], call(diffVersions, { params: apiParams(line), query }));
  if (diff === null) throw notFound("route");
  return diff;
}

function renderSections({ sectionsAdded, sectionsRemoved, sectionsModified, hasPromptChanges }: Diff): Html {
  const groups: [string, readonly string[]][] = [
    ["Added", sectionsAdded],
    ["Removed", sectionsRemoved],
    ["Changed", sectionsModified],
  ];
  const items = groups
    .filter(([, names]) => names.length > 0)
    .map(
      ([label, names]) =>
        html`<dt>${label}</dt><dd>${names.slice(0, MAX_FIELDS).map((name) => html`<code>${name}</code> `)}</dd>`,
    );
  return html`<section aria-labelledby="sections"><h2 id="sections">Sections</h2>
${items.length === 0 ? html`<p>No sections differ.</p>` : html`<dl class="facts">${items}</dl>`}
<p class="quiet">${hasPromptChanges ? "The Markdown that agents load changes." : "The Markdown that agents load stays the same."}</p></section>`;
}

function renderFields({ classified = [], suggestedBump }: Diff): Content {
  if (classified.length === 0) return null;
  const rows = classified
    .slice(0, MAX_FIELDS)
    .map(({ path, type, significance, reason }): Content[] => [
      html`<code>${path}</code>`,
      type,
      badge(significance, SIGNIFICANCE_LOOKS[significance]),
      reason,
    ]);
  return html`<section aria-labelledby="fields"><h2 id="fields">Fields</h2>
<p>These changes call for a new <strong>${suggestedBump}</strong> version.</p>
${recordTable("Changed fields", ["Field", "Change", "Significance", "Reason"], rows)}
${classified.length > MAX_FIELDS && html`<p class="quiet">The first ${MAX_FIELDS} of ${classified.length}.</p>`}</section>`;
}

function renderPatch(unified: string, path: string): Html {
  const { markup, hidden } = renderDiff(unified);
  return html`<section aria-labelledby="patch"><h2 id="patch">Patch</h2>
${
  unified === ""
    ? html`<p>The documents are equal.</p>`
    : html`<p><a class="button" href="${path}">Download patch</a></p>
<div class="card"><pre class="source diff" tabindex="0"><code>${markup}</code></pre></div>
${hidden > 0 && html`<p class="notice">${hidden} more ${hidden === 1 ? "line is" : "lines are"} in the patch.</p>`}`
}</section>`;
}
