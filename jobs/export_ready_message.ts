/** Composes the mail about a finished organization export. */

import type { ExportFormat } from "../shared/vocabulary.ts";
import { composeMail, inWords, type MailFacts, subjectName } from "./compose_mail.ts";
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

const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "NDJSON",
  csv: "CSV",
  parquet: "Parquet",
};
const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];

const number = new Intl.NumberFormat("en-US");

/**
 * Composes the message. It links to the dashboard, which requires signing in; it contains no file and no credential.
 */
export function exportReadyMessage(
  ready: ReadyExport,
  { to, publicUrl }: { to: string; publicUrl: string },
): MailMessage {
  const facts: MailFacts = [
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
    ...composeMail({
      subject: `Your export of ${subjectName(ready.orgName)} is ready`,
      intro: [["Your export of ", { name: ready.orgName }, " is ready."]],
      button: { label: "Open the export", url: `${publicUrl}/dashboard/exports?job=${ready.id}` },
      facts,
      notes: ["You receive this mail because you started the export. Sign in to download it."],
    }),
  };
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
