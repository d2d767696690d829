/** HTML as tagged templates. Every value is escaped unless it is itself the result of a template. */

/** HTML that is safe to send. Only this file and the renderers named in its test create it from a string. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value in a template. Text and numbers are escaped. `null`, `undefined` and `false` are omitted. Lists are joined. */
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
 * Renders a template. Values may be between tags or in double-quoted attributes, never in the name of a tag or attribute. An
 * optional attribute is a template of its own: html`<input${required && html` required`}>`.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? "";
  for (let i = 0; i < values.length; i += 1) text += render(values[i]) + (strings[i + 1] ?? "");
  return new Html(text);
}

/** Returns the normalized address of an http or https URL; null for other addresses, such as `javascript:` URLs. */
export function webUrl(address: string | null): string | null {
  const url = address === null ? null : URL.parse(address);
  return url && ["http:", "https:"].includes(url.protocol) ? url.href : null;
}
