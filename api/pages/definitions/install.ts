/** How to install a definition. */
import { definitionPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { PageDeps } from "../page.ts";
import type { ShownDefinition } from "./definition_frame.ts";

/** Folders that coding agents load definitions from. */
const FOLDERS: Readonly<Record<string, string>> = {
  agent: ".claude/agents/",
  command: ".claude/commands/",
};

/** Returns the command that installs the Markdown of an address: the latest version unless the address has one. */
function installCommand(definition: ShownDefinition, { publicUrl }: PageDeps["config"]): string {
  const { address, visibility, status } = definition;
  const isOpen = visibility === "public" && (status === "published" || status === "deprecated");
  const credential = isOpen ? "" : ` -H "Authorization: Bearer $API_KEY"`;
  const file = `${FOLDERS[address.type] ?? ""}${address.name}.md`;
  return `curl -fo ${file}${credential} ${publicUrl}/api/v1${definitionPath(address)}.md`;
}

export function renderInstall(definition: ShownDefinition, config: PageDeps["config"]): Html {
  const { runtimeMd, address } = definition;
  const download = `/api/v1${definitionPath(address)}`;
  if (runtimeMd === null) {
    return html`<section aria-labelledby="install"><h2 id="install">Install</h2>
<p><a class="button" href="${download}.yaml">Download .yaml</a></p></section>`;
  }
  return html`<section aria-labelledby="install">
<h2 id="install">Install</h2>
<pre class="command" tabindex="0"><code id="install-command">${installCommand(definition, config)}</code></pre>
<div class="actions"><button type="button" data-copies="install-command" hidden>Copy</button>
<a class="button" href="${download}.md">Download .md</a></div>
</section>`;
}
