/** …/yaml: the document in color. */
import { readerWork } from "../../definitions/document.ts";
import { definitionPath } from "../addresses.ts";
import { html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import type { Page } from "../page.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import type { PageAddress } from "./page_address.ts";
import { renderText } from "./rendered_text.ts";

/** Shows the YAML as it was written. */
export async function showYaml(page: Page, address: PageAddress): Promise<PageContent> {
  const definition = await loadDefinition(page, address, { withTexts: true });
  const { markup, isCut } = await renderText(readerWork(page.deps.documents, page.request), {
    format: "yaml",
    text: definition.yaml,
  });
  return frameTab(definition, {
    tab: "yaml",
    head: html`<script type="module" src="/dashboard/assets/copy_button.js"></script>`,
    body: html`<div class="actions">
${!isCut && html`<button type="button" data-copies="document" hidden>Copy</button>`}
<a class="button" href="/api/v1${definitionPath(address)}.yaml">Download .yaml</a>
<span class="quiet">${definition.hash}</span></div>
${isCut && html`<p class="notice">This is the beginning of a long document. The download has all of it.</p>`}
<div class="card" id="document">${markup}</div>`,
  });
}
