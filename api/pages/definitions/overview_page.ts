/** The first page of a definition: its Markdown, and what one wants to know before using it. */
import { ApiError } from "../../../shared/errors.ts";
import { getUser } from "../../accounts/users.ts";
import { readerWork } from "../../definitions/document.ts";
import { getExecutionStatistics } from "../../definitions/executions.ts";
import { getForkable } from "../../definitions/forks/forks.ts";
import { listVersions } from "../../definitions/versions.ts";
import { resolveModelAlias } from "../../models/lookup.ts";
import { definitionPath } from "../addresses.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import { renderNotice } from "../notice.ts";
import type { Page } from "../page.ts";
import { frameTab, loadDefinition, type ShownDefinition } from "./definition_frame.ts";
import { NOTICES } from "./edit/notices.ts";
import { readFrontMatter } from "./front_matter.ts";
import { renderInstall } from "./install.ts";
import { apiParams, type PageAddress } from "./page_address.ts";
import { renderText } from "./rendered_text.ts";
import { renderSide, type SideData } from "./side_column.ts";

/** How many versions the column beside the text names. */
const SHOWN_VERSIONS = 5;
/** 30 days, in minutes. */
const WINDOW = 43_200;

/** Shows the Markdown of a definition and a column of facts. */
export async function showOverview(page: Page, address: PageAddress): Promise<PageContent> {
  const [definition, side] = await Promise.all([
    loadDefinition(page, address, { withTexts: true }),
    loadSide(page, address),
  ]);
  const alias = readFrontMatter(definition.runtimeMd ?? "")["model"] ?? null;
  const [model, prompt, publisher] = await Promise.all([
    alias === null ? null : loadModel(page, alias),
    renderPrompt(page, definition),
    loadPublisher(page, definition),
  ]);
  return frameTab(definition, {
    tab: null,
    head: html`<script type="module" src="/dashboard/assets/copy_button.js"></script>`,
    body: html`${renderNotice(page.notice, NOTICES)}<div class="columns">
<article class="card prose">${prompt}</article>
<aside class="side" aria-label="About this definition">
${renderInstall(definition, page.deps.config)}
${renderSide(definition, { ...side, alias, model, publisher })}
</aside>
</div>`,
  });
}

type LoadedSide = Pick<SideData, "executions" | "versions" | "forkable" | "session">;

async function loadSide(page: Page, address: PageAddress): Promise<LoadedSide> {
  const { session } = page;
  const line = { ...address, version: null };
  const org = session?.org ?? null;
  const [executions, versions, forkable] = await Promise.all([
    page.call(getExecutionStatistics, {
      params: apiParams(address),
      query: { window: WINDOW, include: "byTime", timeBucket: "day" },
    }),
    page.call(listVersions, { params: apiParams(line), query: { limit: SHOWN_VERSIONS } }),
    org && page.call(getForkable, { params: apiParams(address), org: org.slug }),
  ]);
  return {
    session,
    executions: { byTime: [], ...executions.data },
    versions: versions.data,
    forkable: forkable?.data.canFork ?? false,
  };
}

/** Returns the name of the version's author; null if the account is gone. */
async function loadPublisher(page: Page, { authorId }: ShownDefinition): Promise<string | null> {
  try {
    const { data } = await page.call(getUser, { params: { id: authorId } });
    return data.name ?? data.username;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** A model that the catalog does not know is shown by its alias. */
async function loadModel(page: Page, alias: string): Promise<SideData["model"]> {
  try {
    const { data } = await page.call(resolveModelAlias, { params: { alias } });
    return data.model;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return null;
    throw error;
  }
}

async function renderPrompt({ deps, request }: Page, definition: ShownDefinition): Promise<Content> {
  const { runtimeMd, translationError, address } = definition;
  const yamlPath = definitionPath(address, "yaml");
  if (runtimeMd === null) {
    return html`<p class="notice">The YAML cannot be rendered as Markdown${
      translationError &&
      html`: ${translationError.reason}${translationError.path && html` at <code>${translationError.path}</code>`}`
    }. <a href="${yamlPath}">Show the YAML</a></p>`;
  }
  const { markup, isCut } = await renderText(readerWork(deps.documents, request), {
    format: "markdown",
    text: runtimeMd,
  });
  return html`${markup}${isCut && renderCut(definition)}`;
}

function renderCut({ address }: ShownDefinition): Html {
  return html`<p class="notice">This is the beginning of a long text. <a href="/api/v1${definitionPath(address)}.md">Download all of it</a></p>`;
}
