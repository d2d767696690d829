/** Renders the report on a document: errors, warnings, the required version, and dependents that would break. */
import semver from "semver";
import type { ErrorCode } from "../../../../shared/errors.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { definitionPath, type LinkedDefinition } from "../../addresses.ts";
import { type Content, type Html, html } from "../../html.ts";
import { countOf } from "../../parts.ts";
import { fullName } from "../page_address.ts";
import { renderProblems } from "./document_problems.ts";

/** Errors that a check reports about the stored draft itself, because the check tries to create the draft again. */
export const OWN_DRAFT_CODES: readonly ErrorCode[] = ["VERSION_EXISTS", "QUOTA_EXCEEDED"];

/** Returns a report without the errors that exist only because the draft `own` is already stored. */
export function withoutOwnDraft(report: Report, own: string | null): Report {
  if (own === null || report.version.given !== own) return report;
  const errors = report.errors.filter(({ code }) => !OWN_DRAFT_CODES.includes(code));
  return { ...report, errors, valid: errors.length === 0 };
}

/** Renders a report. `own` is the version of the edited draft; null for a new draft. */
export function renderReport(report: Report, { yaml, own }: { yaml: string; own: string | null }): Html {
  const { valid, errors } = report;
  return html`<section class="card stack" id="result" aria-labelledby="result-title">
  <h2 id="result-title" tabindex="-1" autofocus>Result of the check</h2>
  ${
    valid
      ? html`<p class="notice" role="status">No errors. ${own === null ? "It can be saved and published." : "It can be published."}</p>`
      : html`<div class="problem" role="alert"><p>${countOf(errors.length, "error")}. Fix ${errors.length === 1 ? "it" : "them"} before publishing.</p></div>
  ${renderProblems(errors, yaml)}`
  }
  ${renderFindings(report, { yaml, own })}
</section>`;
}

/** Renders a report without its errors. */
export function renderFindings(
  report: Report,
  { yaml, own, opensChanges }: { yaml: string; own: string | null; opensChanges?: boolean },
): Content {
  return [
    renderVersion(report, own),
    renderWarnings(report, yaml),
    renderBreaks(report),
    renderChanges(report, opensChanges),
    renderRisk(report),
    renderMarkdown(report),
  ];
}

/** Renders the version that the changes since an earlier version require. The edited draft, `own`, is not an earlier version. */
function renderVersion({ version, diff }: Report, own: string | null): Content {
  const { given, exists, nextAvailable } = version;
  if (given === null) return null;
  const isTaken = exists && given !== own;
  const hasChanges = diff !== null && diff.against !== own && diff.classified.length > 0;
  const needed = hasChanges ? semver.inc(diff.against, diff.suggestedBump as semver.ReleaseType) : null;
  if (!hasChanges || needed === null) {
    return (
      isTaken &&
      html`<h3>Version</h3><p>Version ${given} exists. The next free one is <b>${nextAvailable}</b>.</p>`
    );
  }
  const isLower = semver.valid(given) !== null && semver.lt(given, needed);
  return html`<h3>Version</h3>
  <p>The changes since ${diff.against} need a ${diff.suggestedBump} version: <b>${needed}</b> or higher. The document has ${given}${
    isLower && ", which is lower"
  }.${isTaken && html` Version ${given} exists; the next free one is <b>${nextAvailable}</b>.`}</p>`;
}

function renderWarnings({ warnings }: Report, yaml: string): Content {
  if (warnings.length === 0) return null;
  const safety = warnings.filter(({ code }) => code.startsWith("SAFETY_"));
  const others = warnings.filter((warning) => !safety.includes(warning));
  return [
    safety.length > 0 &&
      html`<h3>${countOf(safety.length, "safety finding")}</h3>${renderProblems(safety, yaml)}`,
    others.length > 0 &&
      html`<h3>${countOf(others.length, "warning")}</h3><p>Warnings do not block publishing.</p>${renderProblems(others, yaml)}`,
  ];
}

function renderBreaks({ breaks, version, diff }: Report): Content {
  if (breaks.length === 0) return null;
  return html`<h3>${countOf(breaks.length, "dependent")} would not get this version</h3>
  <p>Their ranges accept ${diff?.against} but not ${version.given}. They keep the earlier version.</p>
  <ul>${breaks.map(renderDependent)}
  </ul>`;
}

/** Renders a list item: a dependent version and the range that it requires. */
export function renderDependent(dependent: LinkedDefinition & { range: string }): Html {
  return html`
    <li><a href="${definitionPath(dependent)}">${dependent.type} ${fullName(dependent)}</a> requires <code>${dependent.range}</code></li>`;
}

function renderChanges({ diff }: Report, isOpen = false): Content {
  if (!diff || diff.classified.length === 0) return null;
  return html`<details${isOpen && html` open`}><summary>${countOf(diff.classified.length, "change")} since ${diff.against}</summary>
  <ul>${diff.classified.map(
    ({ path, type, significance, reason }) => html`
    <li><code>${path}</code> ${type} (${significance}): ${reason}</li>`,
  )}
  </ul></details>`;
}

function renderRisk({ riskProfile }: Report): Content {
  const { aggregateRiskLevel } = (riskProfile ?? {}) as { aggregateRiskLevel?: string };
  return (
    aggregateRiskLevel !== undefined && html`<p>Safety scan: risk level <b>${aggregateRiskLevel}</b>.</p>`
  );
}

function renderMarkdown({ runtimeMd }: Report): Content {
  if (runtimeMd === null) return null;
  return html`<details><summary>Rendered Markdown</summary>
  <pre class="text-box" tabindex="0" role="group" aria-label="Rendered Markdown">${"\n"}${runtimeMd}</pre></details>`;
}
