/** The pages about models, requested without a browser. */
import { expect, test } from "bun:test";
import { decideRefusedSyncs } from "../../../../sql/models/catalog_syncs.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import {
  type DocumentModels,
  documentSource,
  loadBundledCatalog,
  makeDocument,
  syncFrom,
} from "../../../helpers/models/catalog.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

async function openModels(models: DocumentModels): Promise<TestApp> {
  const app = await openTestApp();
  await syncFrom(app.db.sql, documentSource(makeDocument(models)));
  return app;
}

async function read(app: TestApp, path: string, status = 200): Promise<string> {
  const response = await openPage(app, path);
  expect([path, response.status, response.headers.get("content-type")]).toEqual([
    ...[path, status, "text/html; charset=utf-8"],
  ]);
  return response.text();
}

/** Returns the model names in the rows of the list. */
function namesIn(page: string): string[] {
  return [...page.matchAll(/<th scope="row"><a [^>]*>([^<]*)<\/a>/g)].map(([, name = ""]) => name);
}

function hrefs(page: string): string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
}

const THREE: DocumentModels = {
  acme: {
    cheap: { name: "Cheap", cost: { input: 1, output: 2, cache_read: 0.1 }, limit: { context: 8000 } },
    dear: { name: "Dear", cost: { input: 9, output: 20, cache_read: 0.9 }, reasoning: true },
  },
  zeta: { free: { name: "Free", cost: { input: 0, output: 0 } } },
};

test("GET /models lists each model with its prices and sorts by each column", async () => {
  await using app = await openModels(THREE);
  const page = await read(app, "/models");
  expect(namesIn(page)).toEqual(["Cheap", "Dear", "Free"]);
  for (const text of [
    "3 models",
    "$0.10",
    "8K",
    "2025-06-01",
    'value="acme/cheap"',
    "from a file",
    ">Provider acme</a>",
  ]) {
    expect([text, page.includes(text)]).toEqual([text, true]);
  }
  for (const column of ["name", "contextLimit", "releaseDate"]) {
    expect(hrefs(page)).toContain(`/models?sortBy=${column}`);
  }
  // Without the minimum price, free models would come first.
  for (const column of ["inputCost", "outputCost", "cacheReadCost"]) {
    expect(hrefs(page)).toContain(`/models?sortBy=${column}&minInputCost=1e-12`);
  }
  const priced = await read(app, "/models?sortBy=inputCost&minInputCost=1e-12");
  expect(namesIn(priced)).toEqual(["Cheap", "Dear"]);
  expect(priced).toContain('name="minInputCost" value="1e-12" checked');
  const sorted = await read(app, "/models?sortBy=inputCost&capability=tools");
  expect(namesIn(sorted)).toEqual(["Free", "Cheap", "Dear"]);
  expect(sorted).toContain('<th scope="col" class="number" aria-sort="ascending">');
  expect(hrefs(sorted)).toContain("/models?sortBy=inputCost&capability=tools&sortOrder=desc");
  expect(hrefs(sorted)).toContain("/api/v1/models?sortBy=inputCost&capability=tools&format=csv");
});

test("the page has the API's filters, and empty form fields are ignored", async () => {
  await using app = await openModels(THREE);
  const empty = "search=&provider=&tier=&status=&minContext=";
  for (const [query, names] of [
    [empty, ["Cheap", "Dear", "Free"]],
    [`${empty}&minInputCost=0.01`, ["Cheap", "Dear"]],
    ["provider=zeta", ["Free"]],
    ["capability=reasoning", ["Dear"]],
    ["minContext=9000", ["Dear", "Free"]],
    ["search=nothing", []],
  ] as const) {
    expect([query, namesIn(await read(app, `/models?${query}`))]).toEqual([query, [...names]]);
  }
  const filtered = await read(
    app,
    "/models?provider=acme&capability=reasoning&minInputCost=0.01&sortBy=name",
  );
  expect(filtered).toContain('<option value="acme" selected>');
  expect(filtered).toContain('name="capability" value="reasoning" checked');
  expect(filtered).toContain('name="minInputCost" value="0.01" checked');
  expect(filtered).toContain('<input type="hidden" name="sortBy" value="name">');
});

test("a refused filter shows its message and its input in the form, which keeps the remaining filters", async () => {
  await using app = await openModels(THREE);
  const page = await read(app, "/models?provider=acme&tier=cheap&minContext=abc&sortBy=luck&limit=2", 400);
  expect(page).toMatch(/<select id="field-minContext" [^>]*aria-invalid="true">/);
  expect(page).toContain('<option value="abc" selected>abc</option>');
  expect(page).toContain(
    '<p class="field-error" id="field-minContext-error">Must be a whole number from 1 to ',
  );
  expect(page).toContain('<option value="cheap" selected>cheap (0)</option>');
  expect(page).toContain('id="field-tier-error">Must be one of budget, ');
  // The other filters are kept. The refused sort order has no field, so it is not sent again.
  expect(page).toContain('<option value="acme" selected>Provider acme (2)</option>');
  expect(page).toContain('<input type="hidden" name="limit" value="2">');
  expect(page).not.toContain('value="luck"');
  expect(page).toContain("<li>sort by must be one of");
  expect(namesIn(page)).toEqual([]);
  for (const [name, value] of [
    ["capability", "flight"],
    ["minInputCost", "free"],
    ["openWeights", "maybe"],
  ]) {
    const refused = await read(app, `/models?${name}=${value}`, 400);
    expect(refused).toContain(`name="${name}" value="${value}" checked aria-invalid="true"`);
    expect(refused).toContain(`id="field-${name}-error">Must be `);
  }
  expect(await read(app, "/models?offset=-1", 400)).toContain("offset must be a whole number");
});

test("the form sends each filter in the page's URL again, including repeated filters", async () => {
  await using app = await openModels(THREE);
  const query =
    "includeGone=true&maxInputCost=50&sortBy=name&limit=7&search=e&provider=acme&tier=standard&status=available" +
    "&capability=tools&capability=reasoning&minInputCost=0.5&openWeights=false&minContext=9000";
  const page = await read(app, `/models?${query}&offset=0`);
  const [, form = ""] = page.match(/<form class="facets"(.*?)<\/form>/s) ?? [];
  const sent = form.split(/<(?=input|select)/).flatMap((control) => {
    const [, name] = control.match(/ name="(.*?)"/) ?? [];
    const isOption = control.startsWith("select") || control.includes('type="checkbox"');
    const [, value] =
      control.match(isOption ? / value="([^"]*)" (?:selected|checked)/ : / value="(.*?)"/) ?? [];
    return name === undefined || value === undefined ? [] : [`${name}=${value}`];
  });
  expect(sent.sort()).toEqual(query.split("&").sort());
  for (const href of hrefs(page).filter((address) => address.includes("sortBy=")))
    expect(href).toContain("capability=tools&capability=reasoning");
});

test("pages of the list link to each other and keep the filters", async () => {
  await using app = await openModels(THREE);
  const first = await read(app, "/models?limit=2&sortBy=name");
  expect([namesIn(first), first.includes("1–2 of 3")]).toEqual([["Cheap", "Dear"], true]);
  expect(hrefs(first)).toContain("/models?limit=2&sortBy=name&offset=2");
  const second = await read(app, "/models?limit=2&sortBy=name&offset=2");
  expect([namesIn(second), second.includes('rel="next"')]).toEqual([["Free"], false]);
  expect(hrefs(second)).toContain("/models?limit=2&sortBy=name");
});

test("the first page of the bundled catalog has sparklines, is small and supports 304", async () => {
  await using app = await openTestApp();
  await loadBundledCatalog(app.db.sql);
  const response = await openPage(app, "/models");
  const page = await response.text();
  expect([page.split('class="sparkline"').length > 30, page.length < 150_000]).toEqual([true, true]);
  const etag = response.headers.get("etag") ?? "";
  const again = await app.request("/models", { headers: { accept: "text/html", "if-none-match": etag } });
  expect([again.status, response.headers.get("cache-control")]).toEqual([
    304,
    "public, max-age=0, must-revalidate",
  ]);
});

test("the list draws no price before the time when the price became known", async () => {
  await using app = await openModels({ acme: { new: {}, old: {} } });
  await app.db.sql`
    update models
    set prices_known_since = now() - case when model_id = 'old' then 91 else 30 end * interval '1 day'`;
  await app.deps.catalog.refresh();
  const page = await read(app, "/models");
  const begins = [...page.matchAll(/class="sparkline"[^>]*><path d="M([\d.]+) /g)].map(([, x]) => Number(x));
  expect(begins).toHaveLength(2);
  // The line starts at two thirds of the width of 64, because the price is known only for the last 30 of 90 days.
  expect(begins[0]).toBeGreaterThan(42);
  expect(begins[0]).toBeLessThan(43.5);
  expect(begins[1]).toBe(0);
});

test("format=csv redirects to the API's CSV file", async () => {
  await using app = await openModels(THREE);
  const response = await openPage(app, "/models?format=csv&provider=acme");
  expect([response.status, response.headers.get("location")]).toEqual([
    303,
    "/api/v1/models?format=csv&provider=acme",
  ]);
});

test("GET /models/:provider/* shows a model with its price changes and aliases", async () => {
  await using app = await openModels(THREE);
  const raised = { acme: { ...THREE["acme"], dear: { name: "Dear", cost: { input: 12, output: 20 } } } };
  await syncFrom(app.db.sql, documentSource(makeDocument({ ...THREE, ...raised })));
  await app.db.sql`insert into model_aliases (alias, provider, model_id) values ('best', 'acme', 'dear')`;
  const page = await read(app, "/models/acme/dear");
  for (const text of [
    ...["<h1>Dear</h1>", "<code>acme/dear</code>", "<code>best</code>", "128,000 tokens", "Input, $12.00"],
    ...["$9.00</td>", "+33%", "1 change, now $12.00.", "$0.90 → –", "What does it cost?"],
  ]) {
    expect([text, page.includes(text)]).toEqual([text, true]);
  }
  expect(hrefs(page)).toContain("/api/v1/models/history/acme/dear");
});

test("capabilities that the source omits are shown as not stated, and unknown values have no row", async () => {
  await using app = await openModels({
    acme: {
      bare: {
        name: "Bare",
        structured_output: undefined,
        reasoning: undefined,
        release_date: "soon",
        limit: {},
      },
      full: { name: "Full", family: "fam", structured_output: false, limit: { context: 9000, input: 8000 } },
    },
  });
  const bare = await read(app, "/models/acme/bare");
  const factsOf = (page: string) =>
    new Map(
      [...page.matchAll(/<dt>([^<]*)<\/dt><dd>(?:<\w+[^>]*>)?([^<]*)/g)].map(
        ([, term = "", value = ""]): [string, string] => [term, value],
      ),
    );
  expect([...factsOf(bare)].map((fact) => fact.join(": "))).toEqual([
    ...["Vision: no", "Tools: yes", "Streaming, derived: yes", "Reasoning: –, not stated"],
    ...["Structured output: –, not stated", "Attachments: no", "Input: text", "Output: text"],
    ...["Provider: Provider acme", "Model ID: bare", "Tier, derived: standard", "Status: available"],
    ...["Weights: closed", "Data of: 2025-06-01", expect.stringMatching(/^Synced: \d{4}-\d\d-\d\d$/)],
  ]);
  expect(bare).not.toContain('class="lead"');
  expect(bare).not.toContain("Logo of the provider");
  expect(bare).toMatch(/No change since <time [^>]*>[^<]+<\/time>\./);
  const full = factsOf(await read(app, "/models/acme/full"));
  expect(["Family", "Structured output", "Context"].map((term) => full.get(term))).toEqual([
    "fam",
    "no",
    "9,000 tokens",
  ]);

  const rows = async (query: string) =>
    [
      ...(await read(app, `/models/compare?${query}`)).matchAll(
        /<tr[^>]*><th scope="row">([^<]*).*?<td>(.*?)<\/td><\/tr>/g,
      ),
    ].map(([, label, cells]) => [label?.trim(), cells?.split("</td><td>")]);
  const both = new Map((await rows("model=acme/bare&model=acme/full")) as [string, string[]][]);
  expect(both.get("Structured output")).toEqual(["–, not stated", "no"]);
  expect(both.get("Family")).toEqual(["–", "fam"]);
  const alone = (await rows("model=acme/bare")).map(([label]) => label);
  for (const label of ["Family", "Context", "Input limit", "Reasoning", "Structured output", "Released"]) {
    expect([label, alone.includes(label)]).toEqual([label, false]);
  }
});

test("filter values show their number of models, and values without models are omitted", async () => {
  await using app = await openModels(THREE);
  const page = await read(app, "/models");
  expect(page).toContain(">Provider acme (2)</option>");
  expect(page).toContain(">Standard (1)</option>");
  expect(page).toContain('value="reasoning"> <span>Reasoning <small class="count">1</small></span>');
  for (const absent of ["Deprecated", 'value="vision"', "Open weights"]) {
    expect([absent, page.includes(absent)]).toEqual([absent, false]);
  }
  // A filter in the URL is shown even without matches, so that it can be removed.
  const none = await read(app, "/models?status=deprecated&capability=vision&provider=nobody");
  expect(none).toContain('<option value="deprecated" selected>Deprecated (0)</option>');
  expect(none).toContain('value="vision" checked');
  expect(none).toContain('<option value="nobody" selected>nobody (0)</option>');
});

test("the calculator shows the API's exact result, and shows errors at the fields", async () => {
  await using app = await openModels(THREE);
  const page = await read(app, "/models/acme/dear?inputTokens=1000&outputTokens=3");
  expect(page).toContain("<b>$0.00906</b>");
  const wrong = await read(app, "/models/acme/dear?inputTokens=many&outputTokens=3", 400);
  expect(wrong).toContain('id="field-inputTokens-error"');
  expect(wrong).toContain('value="many"');
  expect(wrong).not.toContain("items.0.");
  const unpriced = await read(app, "/models/acme/dear?inputTokens=1&cacheWriteTokens=3");
  expect(unpriced).toContain("has no price for cacheWriteTokens");
  expect(unpriced).not.toContain("$undefined");
});

test("a model's page names the target of its family's alias unless that target is deprecated", async () => {
  const [old, recent] = [
    { family: "xfam", release_date: "2024-01-01" },
    { name: "X 2", family: "xfam" },
  ];
  await using app = await openModels({ openai: { "x-1": old, "x-2": recent } });
  const link = '<code>xfam</code> stands for <a href="/models/openai/x-2">X 2</a>';
  expect(await read(app, "/models/openai/x-1")).toContain(link);
  expect(await read(app, "/models/openai/x-2")).not.toContain("Alias of its family");
  // This sync no longer generates the alias. The alias remains, but is deprecated.
  const past = { openai: { "x-1": { ...old, status: "deprecated" }, "x-2": { ...recent, status: "beta" } } };
  await syncFrom(app.db.sql, documentSource(makeDocument(past)));
  await app.deps.catalog.refresh();
  expect(await read(app, "/models/openai/x-1")).not.toContain("/models/openai/x-2");
  const other = { openai: { "x-1": old, "x-2": { ...recent, status: "deprecated" } } };
  await syncFrom(app.db.sql, documentSource(makeDocument(other)));
  const pin = { alias: "xfam", provider: "openai", modelId: "x-2" };
  await app.db.sql`insert into model_aliases ${app.db.sql(pin)}`;
  await app.deps.catalog.refresh();
  expect(await read(app, "/models/openai/x-1")).not.toContain("/models/openai/x-2");
});

test("GET /models/compare shows up to four models and marks their differences", async () => {
  const many = Array.from({ length: 5 }, (_, i) => [`m${i}`, {}] as const);
  await using app = await openModels({ ...THREE, many: Object.fromEntries(many) });
  const page = await read(app, "/models/compare?model=acme/cheap&model=acme/dear&model=acme/cheap");
  expect(
    [...page.matchAll(/<tr class="differs"><th scope="row">([^<]*)/g)].map(([, label]) => label?.trim()),
  ).toEqual([...["Tier, derived", "Context", "Output limit", "Input", "Output", "Cache read", "Reasoning"]]);
  expect(page.split('class="price-plot"').length - 1).toBe(3);
  expect(hrefs(page)).toContain("/models/compare?model=acme%2Fdear");
  const query = many.map(([id]) => `model=many/${id}`).join("&");
  expect(await read(app, `/models/compare?${query}`)).toContain(
    "You selected 5 models. These are the first 4.",
  );
  expect(await read(app, "/models/compare")).toContain('name="model" required');
});

test("the page of a model shows held prices, and since when the source's entry has been unreadable", async () => {
  await using app = await openModels({
    acme: { doubtful: { cost: { input: 3, output: 15 } }, broken: {}, fine: {} },
  });
  const next = {
    acme: { doubtful: { cost: { input: 0, output: 15, cache_read: 0 } }, broken: { cost: "free" }, fine: {} },
  };
  await syncFrom(app.db.sql, documentSource(makeDocument(next as DocumentModels)));
  const doubtful = await read(app, "/models/acme/doubtful");
  expect(doubtful).toMatch(
    /Since <time datetime="[^"]+">[^<]+<\/time>, the source has input \$0\.00 instead of \$3\.00, cache read \$0\.00 instead of unknown\. This may be a mistake: it is not used until/,
  );
  expect(await read(app, "/models/acme/broken")).toMatch(
    /has been unreadable since <time datetime="[^"]+">[^<]+<\/time>\. You see the last values that could be read\./,
  );
  const fine = await read(app, "/models/acme/fine");
  expect(fine).not.toMatch(/mistake|cannot be read/);
  await app.db.sql`update held_prices set rejected_at = now()`;
  expect(await read(app, "/models/acme/doubtful")).toContain("An operator has rejected this as a mistake.");
});

test("the list says that the source's catalog is held because too many models are missing", async () => {
  const many = (count: number): DocumentModels => ({
    acme: Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, {}])),
  });
  await using app = await openModels(many(30));
  expect(await read(app, "/models")).not.toContain("lacks too many");
  await syncFrom(app.db.sql, documentSource(makeDocument(many(5))));
  const page = await read(app, "/models");
  expect(page).toMatch(
    /Since <time datetime="[^"]+">[\d-]+<\/time>, the source’s catalog lacks too many models or prices to be used\. You see the previous one\. A later sync or an operator may confirm the new one\./,
  );
  expect(page).toContain("30 models");
  await decideRefusedSyncs(app.db.sql, "rejected");
  expect(await read(app, "/models")).toContain("An operator has rejected the new one as a mistake.");
});

test("a comparison with a missing model keeps the existing models and suggests similar models", async () => {
  await using app = await openModels(THREE);
  await app.db.sql`insert into model_aliases (alias, provider, model_id) values ('dearest', 'acme', 'dear')`;
  for (const name of [
    "acme/none",
    "acme",
    "history/acme/dear",
    "resolve/dear",
    "acme/",
    "/",
    "..",
    "acme/../dear",
  ]) {
    const page = await read(app, `/models/compare?model=acme/cheap&model=${encodeURIComponent(name)}`, 404);
    expect([name, page.includes(`There is no model “${name}”.`)]).toEqual([name, true]);
    expect(page).toContain('name="model" value="acme/cheap"');
  }
  const page = await read(app, "/models/compare?model=acme/cheap&model=acme/deer", 404);
  expect(hrefs(page)).toContain("/models/compare?model=acme%2Fcheap&model=acme%2Fdear");
  expect(await read(app, "/models/compare?model=dearest")).toContain('name="model" value="acme/dear"');
});

test("a model with an id of maximum length is listed and has a page, and models with longer ids are omitted", async () => {
  // PostgreSQL cannot compress such a text to fit into an index entry.
  const han = (length: number) =>
    String.fromCodePoint(...Array.from({ length }, (_, n) => 0x4e00 + ((n * 7919) % 20_000)));
  await using app = await openModels({
    [han(240)]: { [han(240)]: { name: "Longest" } },
    [han(500)]: { [han(500)]: { name: "Wide" } },
    acme: { ["x".repeat(497)]: { name: "Long" }, short: { name: "Short" } },
  });
  expect(namesIn(await read(app, "/models")).toSorted()).toEqual(["Longest", "Short"]);
  const path = `/models/${encodeURIComponent(han(240))}/${encodeURIComponent(han(240))}`;
  expect(await read(app, path)).toContain("<h1>Longest</h1>");
});

test("unknown parameters are ignored", async () => {
  await using app = await openModels(THREE);
  const page = await read(app, "/models?utm_source=mail&sortBy=inputCost");
  expect(namesIn(page).length).toBe(3);
  expect(page.slice(page.indexOf("<main"))).not.toContain("utm_source");
  expect(await read(app, "/models/acme/dear?fbclid=1")).toContain("acme/dear");
});

test("an unknown model returns the page for unknown URLs", async () => {
  await using app = await openModels(THREE);
  for (const path of [
    ...["/models/acme/none", "/models/none/cheap", "/models/history/acme/dear", "/models/resolve/dear"],
  ]) {
    expect(await read(app, path, 404)).toContain("<h1>Page not found</h1>");
  }
});

test("hostile names from a source are escaped, and models with unusual ids are linked correctly", async () => {
  const hostile = `"><script>alert(1)</script>`;
  const ids = ["a/b c/d", "50%", "x?y=1&z#w", "é:free@1", hostile];
  await using app = await openModels({
    acme: Object.fromEntries(
      ids.map((id) => [id, { name: `${hostile}${id}`, family: hostile, description: hostile }]),
    ),
  });
  const list = await read(app, "/models");
  expect(namesIn(list).length).toBe(ids.length);
  const links = hrefs(list).filter((href) => href.startsWith("/models/acme/"));
  expect(links.length).toBe(ids.length);
  const compare = `/models/compare?${new URLSearchParams(ids.slice(1).map((id): [string, string] => ["model", `acme/${id}`]))}`;
  for (const path of ["/models", ...links, compare, `/models?search=${encodeURIComponent(hostile)}`]) {
    const html = await read(app, path);
    const page = html.slice(html.indexOf("<main"));
    expect([path, page.includes("<script"), page.includes("&lt;script&gt;")]).toEqual([path, false, true]);
  }
});
