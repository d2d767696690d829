/** GET /: a description of this service, a search, and links. */
import { listDefinitions } from "../definitions/list.ts";
import { bytesResponse } from "../http/bytes_response.ts";
import { notFound } from "../http/require_visible.ts";
import { listModels } from "../models/list/list.ts";
import { acceptsHtml } from "./error_page.ts";
import { type Html, html } from "./html.ts";
import type { Page, PageResult, PageRoute } from "./page.ts";
import { countOf, renderDay } from "./parts.ts";

export const HOME_PAGES: readonly PageRoute[] = [["GET", "/", "all", showHome]];

/** The links in the response to programs. */
const LINKS = {
  api: "/api/v1",
  openapi: "/swagger/json",
  documentation: "/swagger",
  definitions: "/api/v1/definitions",
  models: "/api/v1/models",
  datasets: "/api/v1/export/datasets",
  signIn: "/api/v1/auth/login",
  dashboard: "/dashboard/exports",
  health: "/health/ready",
} as const;

/** Returns the page to browsers and the links to programs. A request that accepts neither gets the 404 of an unknown path. */
async function showHome(page: Page): Promise<PageResult> {
  if (acceptsHtml(page.request)) {
    return {
      title: "Exports, definitions, models",
      section: null,
      head: html`<meta name="description" content="Exports of issue tracker data, a registry of agent definitions, and a catalog of AI models with prices.">`,
      main: await renderHome(page),
    };
  }
  if (page.request.headers.get("accept")?.includes("application/json")) {
    return bytesResponse(JSON.stringify({ data: { links: LINKS } }), {
      headers: {
        "Content-Type": "application/json;charset=utf-8",
        Vary: "Accept",
        "Cache-Control": "no-cache",
      },
    });
  }
  throw notFound("route");
}

async function renderHome({ call, session }: Page): Promise<Html> {
  const [definitions, models] = await Promise.all([
    call(listDefinitions, { query: { limit: 1 } }),
    call(listModels, { query: { limit: 1 } }),
  ]);
  const { dataDate } = models.data.catalog;
  return html`<h1>Exports, definitions, models</h1>
<p class="lead">Download issue tracker data, find and share agent definitions, and look up models and their prices.</p>
<div class="tiles">
  <section class="card stack" aria-labelledby="definitions-title">
    <h2 id="definitions-title"><a href="/definitions">Definitions</a></h2>
    <p>Agents, commands, workflows and pipelines as versioned YAML. ${countOf(definitions.data.total, "definition")}.</p>
    <form class="search" role="search" aria-label="Definitions" method="get" action="/definitions">
      <label class="visually-hidden" for="search-definitions">Search definitions</label>
      <input id="search-definitions" name="search" type="search" maxlength="500" placeholder="code review">
      <button type="submit">Search</button>
    </form>
  </section>
  <section class="card stack" aria-labelledby="models-title">
    <h2 id="models-title"><a href="/models">Models</a></h2>
    <p>Prices, limits and capabilities. ${countOf(models.data.total, "model")}${
      dataDate !== null && html`, data of ${renderDay(dataDate)}`
    }.</p>
    <form class="search" role="search" aria-label="Models" method="get" action="/models">
      <label class="visually-hidden" for="search-models">Search models</label>
      <input id="search-models" name="search" type="search" maxlength="200" placeholder="sonnet">
      <button type="submit">Search</button>
    </form>
  </section>
  <section class="card stack" aria-labelledby="exports-title">
    <h2 id="exports-title"><a href="/dashboard/exports">Exports</a></h2>
    <p>Projects and whole organizations as NDJSON, CSV or Parquet, at one consistent point in time.</p>
    <p>${
      session
        ? html`<a class="button" href="/dashboard/exports">Open exports</a>`
        : html`<a class="button primary" href="/dashboard/sign-in?next=%2Fdashboard%2Fexports">Sign in</a>`
    }</p>
  </section>
  <section class="card stack" aria-labelledby="api-title">
    <h2 id="api-title"><a href="/swagger">API</a></h2>
    <p>Everything here is an API call. <a href="/swagger/json">OpenAPI document</a>, <a href="/health/ready">health</a>, <a href="/security-policy">security policy</a>.</p>
  </section>
</div>`;
}
