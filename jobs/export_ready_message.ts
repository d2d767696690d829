/** Composes the mail about a finished organization export. */

import type { ExportFormat } from "../shared/vocabulary.ts";
import type { MailMessage } from "./mail.ts";

export interface ReadyExport {
  id: string;
  orgName: string;
  format: ExportFormat;
  asOf: string;
  /** Set if the export holds only what has changed after it. */
  since: string | null;
  expiresAt: string;
  rows: number;
  projects: number;
  bytes: number;
}

type Facts = readonly (readonly [name: string, value: string])[];

const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "NDJSON",
  csv: "CSV",
  parquet: "Parquet",
};
const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];
/** Longer names are shortened in the subject. */
const MAX_SUBJECT_NAME = 100;

const number = new Intl.NumberFormat("en-US");
const instant = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "long",
  timeStyle: "medium",
  timeZone: "UTC",
});

/**
 * Composes the message. It links to the dashboard, which requires signing in; it contains no file and no credential.
 */
export function exportReadyMessage(
  ready: ReadyExport,
  { to, publicUrl }: { to: string; publicUrl: string },
): MailMessage {
  const orgName = oneLine(ready.orgName);
  const link = `${publicUrl}/dashboard/exports?job=${ready.id}`;
  const facts: Facts = [
    ["Contents", `${counted(ready.rows, "row")} of ${counted(ready.projects, "project")}`],
    ["Format", `${FORMAT_NAMES[ready.format]}, in a ZIP file`],
    ["Size", byteSize(ready.bytes)],
    ...(ready.since === null ? [] : [["Only changes since", inWords(ready.since)] as const]),
    ["As of", inWords(ready.asOf)],
    ["Available until", inWords(ready.expiresAt)],
  ];
  return {
    id: ready.id,
    to,
    subject: `Your export of ${shortened(orgName, MAX_SUBJECT_NAME)} is ready`,
    text: textPart(orgName, facts, link),
    html: htmlPart(orgName, facts, link),
  };
}

const WHY = "You receive this mail because you started the export. Sign in to download it.";

function textPart(orgName: string, facts: Facts, link: string): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return [
    `Your export of ${orgName} is ready:`,
    "",
    link,
    "",
    ...facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`),
    "",
    WHY,
    "",
  ].join("\n");
}

/** Sets no colors, so that it is readable on light and dark; loads nothing. */
function htmlPart(orgName: string, facts: Facts, link: string): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><th scope="row" style="text-align:left;font-weight:normal;padding:2px 24px 2px 0">${escapeHtml(name)}</th>` +
      `<td style="padding:2px 0">${escapeHtml(value)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>Export ready</title>
<style>:root { color-scheme: light dark; }</style>
</head>
<body style="font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;max-width:36em;margin:24px">
<p>Your export of <strong dir="auto">${escapeHtml(orgName)}</strong> is ready.</p>
<p><a href="${escapeHtml(link)}" style="display:inline-block;padding:8px 16px;border:1px solid;border-radius:6px">Open the export</a></p>
<table style="border-collapse:collapse">
${rows.join("\n")}
</table>
<p><small>${WHY}</small></p>
</body>
</html>
`;
}

/** Replaces line breaks, which end headers, and direction controls, which disguise text, with spaces. */
function oneLine(name: string): string {
  return name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
}

function shortened(name: string, maxLength: number): string {
  const characters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
  return characters.length <= maxLength ? name : `${characters.slice(0, maxLength - 1).join("")}…`;
}

function counted(count: number, noun: string): string {
  return `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `12.3 MB (12,345,678 bytes)`, in powers of 1000. */
function byteSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  const exact = counted(bytes, "byte");
  return power === 0 ? exact : `${(bytes / 1000 ** power).toFixed(1)} ${BYTE_UNITS[power]} (${exact})`;
}

function inWords(iso: string): string {
  return `${instant.format(new Date(iso))} UTC`;
}

function escapeHtml(text: string): string {
  return Bun.escapeHTML(text);
}
