/** /orgs/{slug}/audit: the audit log of an organization, for its owners and admins. */
import { listAuditEntries } from "../../accounts/organizations/audit.ts";
import { orgPath, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import { emptyState, recordTable, renderInstant } from "../parts.ts";
import { orgPage } from "./org_page.ts";

type Log = ResponseOf<typeof listAuditEntries>["data"];
type Entry = Log["entries"][number];

export async function showAudit(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const cursor = page.url.searchParams.get("cursor");
  const { data } = await page.call(listAuditEntries, { params: { slug }, query: { cursor } });
  return orgPage(page, { slug, tab: "audit", body: renderAudit(data, { slug, isFirst: cursor === null }) });
}

function renderAudit({ entries, nextCursor }: Log, at: { slug: string; isFirst: boolean }): Html {
  const path = orgPath(at.slug, "audit");
  const columns = ["Time", "Actor", "Action", "Subject", "Details", "Request"];
  return html`<section class="stack" aria-labelledby="audit-title">
  <h2 id="audit-title">Audit log</h2>
  <p class="quiet">Exports, writes and denied writes, newest first. Entries are kept for 400 days.</p>
  ${entries.length === 0 ? emptyState(`No ${at.isFirst ? "" : "more "}entries.`) : recordTable("Audit log", columns, entries.map(renderEntry))}
  <nav class="pager" aria-label="Pages"><span class="actions">${!at.isFirst && html`<a class="button" href="${path}">Newest</a>`}
  ${nextCursor !== null && html`<a class="button" href="${withQuery(path, { cursor: nextCursor })}" rel="next">Older</a>`}</span></nav>
</section>`;
}

function renderEntry(entry: Entry): Content[] {
  return [
    renderInstant(entry.occurredAt),
    entry.actorUsername ?? entry.actorType,
    entry.action,
    html`${entry.subjectType} <small><code>${entry.subjectId}</code></small>`,
    renderFacts(Object.entries(entry.details)),
    [entry.address, renderMore(entry)],
  ];
}

function renderMore({ requestId, clientRequestId, credentialId, userAgent }: Entry): Content {
  const facts = renderFacts([
    ["request", requestId],
    ["client’s request", clientRequestId],
    ["credential", credentialId],
    ["user agent", userAgent],
  ]);
  return facts && html`<details><summary>More</summary>${facts}</details>`;
}

function renderFacts(facts: readonly [string, unknown][]): Content {
  const known = facts.filter(([, value]) => value !== null && value !== undefined);
  if (known.length === 0) return null;
  return html`<ul class="pairs">${known.map(([name, value]) => html`<li><small>${name}</small> ${formatFact(value)}</li>`)}</ul>`;
}

function formatFact(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
