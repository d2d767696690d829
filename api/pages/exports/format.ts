/** Formats flags and times for the exports pages. Scripts convert the times to the reader's time zone. */
import type { VisibilityFlag } from "../../../shared/exports/datasets.ts";
import { type Html, html } from "../html.ts";
import { formatInstant } from "../parts.ts";

const DISTANCE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Units with their length in seconds and their minimum count. Below this count, the unit is too imprecise. */
const TIME_UNITS = [
  ["day", 86_400, 2],
  ["hour", 3600, 2],
  ["minute", 60, 1],
] as const;

/** The rows that each export flag includes, in the order of the form. */
export const FLAG_NAMES: Readonly<Record<VisibilityFlag, string>> = {
  include_resolved: "Resolved issues",
  include_deleted: "Deleted issues",
  include_archived: "Archived runs",
  include_superseded: "Superseded analyses",
};

export const FLAGS = Object.keys(FLAG_NAMES) as readonly VisibilityFlag[];

/** Returns the time relative to now: `in 3 days`, `5 minutes ago`, `just now`. */
export function formatDistance(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  for (const [unit, length, from] of TIME_UNITS) {
    if (Math.abs(seconds) >= from * length) return DISTANCE.format(Math.round(seconds / length), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

/** Renders an instant in UTC, which a script converts to local time. */
export function timeTag(iso: string): Html {
  return html`<time datetime="${iso}" data-local>${formatInstant(iso)}</time>`;
}
