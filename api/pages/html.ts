/** HTML as tagged templates. Every value is escaped unless it is itself the result of a template. */

/** HTML that is safe to send. Only this file and the renderers named in its test make one from a string. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What a template takes: text and numbers are escaped; `null`, `undefined` and `false` are left out; lists are joined. */
export type Content = Html | string | number | bigint | null | undefined | false | readonly Content[];

function render(value: Content): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return "";
  if (typeof value !== "object") return Bun.escapeHTML(String(value));
  let text = "";
  for (const part of value) text += render(part);
  return text;
}

/**
 * The template with its values in place. Values stand between tags or in double-quoted attributes, never in a tag's or
 * an attribute's name; an optional attribute is a template of its own: html`<input${required && html` required`}>`.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? "";
  for (let i = 0; i < values.length; i += 1) text += render(values[i]) + (strings[i + 1] ?? "");
  return new Html(text);
}

/** The address as given if it leads to a website, else `null`: `javascript:` and the like lead nowhere. */
export function webUrl(address: string | null): string | null {
  const url = address === null ? null : URL.parse(address);
  return url && ["http:", "https:"].includes(url.protocol) ? url.href : null;
}
