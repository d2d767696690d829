/** Composes a mail as text and HTML from its content. */

/** Text that may contain names. Names are user input: they may be in a right-to-left script, and the mail highlights them. */
export type MailText = string | readonly (string | { name: string })[];

/** Names and values, shown as a table. */
export type MailFacts = readonly (readonly [name: string, value: string])[];

export interface MailContent {
  subject: string;
  /** Paragraphs above the button. */
  intro: readonly MailText[];
  /** The action that the mail asks for. */
  button?: { label: string; url: string };
  facts?: MailFacts;
  /** Small print: why the recipient got the mail, and what to do if they did not expect it. */
  notes: readonly MailText[];
}

/** The maximum length of a name in the subject. Longer names are truncated. */
const MAX_SUBJECT_NAME = 100;

const instant = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "long",
  timeStyle: "medium",
  timeZone: "UTC",
});

export function composeMail(content: MailContent): { subject: string; text: string; html: string } {
  return { subject: content.subject, text: textPart(content), html: htmlPart(content) };
}

function textPart({ intro, button, facts = [], notes }: MailContent): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length)) + 2;
  const parts = [
    ...intro.map(toText),
    ...(button ? [`${button.label}:\n${button.url}`] : []),
    ...(facts.length > 0
      ? [facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${oneLine(value)}`).join("\n")]
      : []),
    ...notes.map(toText),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Renders the HTML part. It sets no colors, so that it is readable in light and dark mode, and loads no other resources. */
function htmlPart({ subject, intro, button, facts = [], notes }: MailContent): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><th scope="row" style="text-align:left;font-weight:normal;padding:2px 24px 2px 0">${Bun.escapeHTML(name)}</th>` +
      `<td style="padding:2px 0">${Bun.escapeHTML(oneLine(value))}</td></tr>`,
  );
  const parts = [
    ...intro.map((text) => `<p>${toHtml(text)}</p>`),
    ...(button
      ? [
          `<p><a href="${Bun.escapeHTML(button.url)}" style="display:inline-block;padding:8px 16px;border:1px solid;border-radius:6px">${Bun.escapeHTML(button.label)}</a></p>`,
        ]
      : []),
    ...(rows.length > 0 ? ['<table style="border-collapse:collapse">', ...rows, "</table>"] : []),
    ...notes.map((text) => `<p><small>${toHtml(text)}</small></p>`),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${Bun.escapeHTML(subject)}</title>
<style>:root { color-scheme: light dark; }</style>
</head>
<body style="font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;max-width:36em;margin:24px;overflow-wrap:anywhere">
${parts.join("\n")}
</body>
</html>
`;
}

function partsOf(text: MailText): readonly (string | { name: string })[] {
  return typeof text === "string" ? [text] : text;
}

function toText(text: MailText): string {
  return partsOf(text)
    .map((part) => (typeof part === "string" ? part : oneLine(part.name)))
    .join("");
}

function toHtml(text: MailText): string {
  return partsOf(text)
    .map((part) =>
      typeof part === "string"
        ? Bun.escapeHTML(part)
        : `<strong dir="auto">${Bun.escapeHTML(oneLine(part.name))}</strong>`,
    )
    .join("");
}

/** Replaces line breaks, which end headers, and direction controls, which disguise text, with spaces. */
function oneLine(name: string): string {
  return name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** Returns a name for use in a subject: on one line and of limited length. */
export function subjectName(name: string): string {
  const characters = [...new Intl.Segmenter().segment(oneLine(name))].map(({ segment }) => segment);
  return characters.length <= MAX_SUBJECT_NAME
    ? characters.join("")
    : `${characters.slice(0, MAX_SUBJECT_NAME - 1).join("")}…`;
}

/** Inserts invisible word joiners, so that mail programs do not turn the name into a link. A stranger may have chosen the name. */
export function withoutLinks(name: string): string {
  return name.replaceAll(/(?<=\S)[.:/@](?=\S)/g, "\u2060$&");
}

/** Returns the URL of an organization's page. */
export function orgUrl(publicUrl: string, slug: string): string {
  return `${publicUrl}/orgs/${encodeURIComponent(slug)}`;
}

/** Formats an instant for people: `26 November 2026 at 04:00:00 UTC`. */
export function inWords(iso: string): string {
  return `${instant.format(new Date(iso))} UTC`;
}
