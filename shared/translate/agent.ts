/** Runtime Markdown of agents. */
import { renderFrontMatter } from "./front_matter.ts";
import { writeUnknownBlock } from "./generic_section.ts";
import { prose } from "./inline.ts";
import { type Source, writeTitle } from "./interface_block.ts";
import { MarkdownWriter } from "./markdown_writer.ts";

export function renderAgent(source: Source): string {
  const w = new MarkdownWriter();
  writeTitle(w, source);
  w.paragraph(prose(source.description));
  for (const [key, value] of Object.entries(source.body.takeLeftovers())) writeUnknownBlock(w, key, value);
  return `${renderFrontMatter([
    ["name", source.name],
    ["description", source.description],
    ["version", source.version],
  ])}\n${w}`;
}
