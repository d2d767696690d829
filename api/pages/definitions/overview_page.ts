/** The overview and YAML pages of a definition. The overview shows the Markdown, next to a column of facts about the definition. */
import { ApiError } from "../../../shared/errors.ts";
import { getUser } from "../../accounts/users.ts";
import { readerWork } from "../../definitions/document.ts";
import { getExecutionStatistics } from "../../definitions/executions.ts";
import { getForkable } from "../../definitions/forks/forks.ts";
import { listVersions } from "../../definitions/versions.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import { resolveModelAlias } from "../../models/models.ts";
import { definitionPath } from "../addresses.ts";
import { nullIf } from "../api_client.ts";
import { type Content, Html, html } from "../html.ts";
import { renderNotice } from "../notice.ts";
import type { Page, PageDeps, PageResult } from "../page.ts";
import { COPY_SCRIPT } from "../secret_shown_once.ts";
import {
  frameTab,
  loadDefinition,
  renderTranslationError,
  type ShownDefinition,
} from "./definition_frame.ts";
import { NOTICES } from "./edit/action_page.ts";
import { apiParams, type PageAddress } from "./page_address.ts";
import { renderSide, type SideData } from "./side_column.ts";

/** The number of versions in the column beside the text. */
const SHOWN_VERSIONS = 5;
/** The period of the execution statistics: 30 days, in minutes. */
const WINDOW = 43_200;

/** Shows the Markdown of a definition and a column of facts. */
export async function showOverview(page: Page, address: PageAddress): Promise<PageResult> {
  const [definition, side] = await Promise.all([
    loadDefinition(page, address, { withTexts: true }),
    loadSide(page, address),
  ]);
  const alias = readModel(definition.runtimeMd ?? "");
  const [model, prompt, publisher] = await Promise.all([
    alias === null ? null : loadModel(page, alias),
    renderPrompt(page, definition),
    loadPublisher(page, definition),
  ]);
  return frameTab(definition, {
    tab: null,
    head: COPY_SCRIPT,
    body: html`${renderNotice(page.notice, NOTICES)}<div class="columns">
<article class="card prose">${prompt}</article>
<aside class="side" aria-label="About this definition">
${renderInstall(definition, page.deps.config)}
${renderSide(definition, { ...side, alias, model, publisher })}
</aside>
</div>`,
  });
}

export async function showYaml(page: Page, address: PageAddress): Promise<PageResult> {
  const definition = await loadDefinition(page, address, { withTexts: true });
  const { markup, isCut } = await renderText(readerWork(page.deps.documents, page.request), {
    format: "yaml",
    text: definition.yaml,
  });
  return frameTab(definition, {
    tab: "yaml",
    head: COPY_SCRIPT,
    body: html`<div class="actions">
${!isCut && html`<button type="button" data-copies="document" hidden>Copy</button>`}
<a class="button" href="/api/v1${definitionPath(address)}.yaml">Download .yaml</a>
<span class="quiet">${definition.hash}</span></div>
${isCut && html`<p class="notice">This is the beginning of a long document. The download has all of it.</p>`}
<div class="card" id="document">${markup}</div>`,
  });
}

async function loadSide(page: Page, address: PageAddress) {
  const { session } = page;
  const line = { ...address, version: null };
  const org = session?.org ?? null;
  const [executions, versions, forkable] = await Promise.all([
    page.call(getExecutionStatistics, {
      params: apiParams(address),
      query: { window: WINDOW, include: "byTime", timeBucket: "day" },
    }),
    page.call(listVersions, { params: apiParams(line), query: { limit: SHOWN_VERSIONS } }),
    // An organization that requires a second factor rejects the call, but it hides only its own definitions.
    org &&
      nullIf(
        ["SECOND_FACTOR_REQUIRED", "ORG_ACCESS_DENIED"],
        page.call(getForkable, { params: apiParams(address), org: org.slug }),
      ),
  ]);
  return {
    session,
    executions: executions.data,
    versions: versions.data,
    forkable: forkable?.data.canFork ?? false,
  };
}

/** Returns the name of the version's author; null if the account no longer exists. */
async function loadPublisher(page: Page, { authorId }: ShownDefinition): Promise<string | null> {
  const user = await nullIf(["NOT_FOUND"], page.call(getUser, { params: { id: authorId } }));
  return user && (user.data.name ?? user.data.username);
}

/** Returns the model of an alias; null if the catalog does not contain the alias, which may be any text. */
async function loadModel(page: Page, alias: string): Promise<SideData["model"]> {
  const called = page.call(resolveModelAlias, { params: { alias } });
  return (await nullIf(["NOT_FOUND", "VALIDATION_ERROR"], called))?.data.model ?? null;
}

async function renderPrompt({ deps, request }: Page, definition: ShownDefinition): Promise<Content> {
  const { runtimeMd, translationError, address } = definition;
  const yamlPath = definitionPath(address, "yaml");
  if (runtimeMd === null) {
    return html`<p class="notice">The YAML cannot be rendered as Markdown${
      translationError && html`: ${renderTranslationError(translationError)}`
    }. <a href="${yamlPath}">Show the YAML</a></p>`;
  }
  const { markup, isCut } = await renderText(readerWork(deps.documents, request), {
    format: "markdown",
    text: runtimeMd,
  });
  return html`${markup}${isCut && html`<p class="notice">This is the beginning of a long text. <a href="/api/v1${definitionPath(address)}.md">Download all of it</a></p>`}`;
}

/** Returns the model in the front matter, or null. The translator writes each value as JSON on one line. */
function readModel(markdown: string): string | null {
  const end = markdown.startsWith("---\n") ? markdown.indexOf("\n---\n") : -1;
  const [, json] = /^model: (".*")$/m.exec(markdown.slice(0, Math.max(0, end))) ?? [];
  try {
    return json === undefined ? null : String(JSON.parse(json));
  } catch {
    return null;
  }
}

/** Folders that coding agents load definitions from. */
const FOLDERS: Readonly<Record<string, string>> = {
  agent: ".claude/agents/",
  command: ".claude/commands/",
};

/** Returns the command that installs a definition's Markdown. Without a version in the address, installs the latest version. */
function installCommand(definition: ShownDefinition, { publicUrl }: PageDeps["config"]): string {
  const { address, visibility, status } = definition;
  const isOpen = visibility === "public" && (status === "published" || status === "deprecated");
  const credential = isOpen ? "" : ` -H "Authorization: Bearer $API_KEY"`;
  const file = `${FOLDERS[address.type] ?? ""}${address.name}.md`;
  return `curl --create-dirs -fo ${file}${credential} ${publicUrl}/api/v1${definitionPath(address)}.md`;
}

function renderInstall(definition: ShownDefinition, config: PageDeps["config"]): Html {
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

/** The maximum number of characters, which limits the size of the page. The whole text can be downloaded. */
const MAX_LENGTH = 48_000;

/**
 * Renders the beginning of a text. `isCut` is true if the text is longer. Long texts wait in the queue of the document thread.
 * If the queue is full, the text is shown unformatted.
 */
export async function renderText(
  work: Pick<DocumentWork, "render">,
  { format, text: whole }: { format: "markdown" | "yaml"; text: string },
): Promise<{ markup: Html; isCut: boolean }> {
  const text = cut(whole);
  const isCut = text.length < whole.length;
  try {
    // The renderers escape their input.
    const markup = new Html(JSON.parse(await work.render({ format, text })));
    return { markup: format === "yaml" ? inCodeBlock(markup) : markup, isCut };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { markup: inCodeBlock(text), isCut };
  }
}

function inCodeBlock(markup: Content): Html {
  return html`<pre class="source" tabindex="0"><code>${markup}</code></pre>`;
}

/** Truncates a long text, at the end of a line if possible. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const end = text.lastIndexOf("\n", MAX_LENGTH);
  return text.slice(0, end === -1 ? MAX_LENGTH : end + 1);
}
