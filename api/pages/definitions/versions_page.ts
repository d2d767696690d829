/** …/versions: all versions of a definition. */
import { listVersions } from "../../definitions/versions.ts";
import { definitionPath, withQuery } from "../addresses.ts";
import { type Content, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { countOf, pager, readOffset, recordTable, renderDay } from "../parts.ts";
import { frameTab, loadDefinition, statusBadge } from "./definition_frame.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

const PAGE_SIZE = 50;

/** Shows one page of versions, the highest first. */
export async function showVersions(page: Page, address: PageAddress): Promise<PageResult> {
  const line = { ...address, version: null };
  const offset = readOffset(page.url);
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(listVersions, { params: apiParams(line), query: { limit: PAGE_SIZE, offset } }),
  ]);
  const { versions, total } = data;
  const rows = versions.map(({ version, status, changeType, changeSummary, createdAt, hash }): Content[] => [
    html`<a href="${definitionPath({ ...line, version })}">${version}</a>`,
    statusBadge(status),
    changeType,
    changeSummary,
    renderDay(createdAt),
    html`<code title="${hash}">${hash.slice("sha256:".length, 19)}</code>`,
  ]);
  const path = definitionPath(address, "versions");
  return frameTab(definition, {
    tab: "versions",
    body: html`<section aria-labelledby="versions"><h2 id="versions">${countOf(total, "version")}</h2>
${recordTable("Versions", ["Version", "Status", "Change", "Summary", "Created", "Hash"], rows)}
${pager({ offset, limit: PAGE_SIZE, total, shown: rows.length }, (to) => withQuery(path, { offset: to }))}</section>`,
  });
}
