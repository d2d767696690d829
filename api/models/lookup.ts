/** One model: by provider and id, or by an alias; the lists of providers and aliases. */
import { Elysia } from "elysia";
import { access } from "../http/access.ts";
import type { CatalogEntry } from "./catalog.ts";
import type { CatalogCache, CurrentCatalog } from "./catalog_cache.ts";
import { respondTagged } from "./conditional_response.ts";
import { ALIASES_DETAIL, MODEL_DETAIL, PROVIDERS_DETAIL, RESOLVE_DETAIL } from "./openapi.ts";
import { modelKey, requireAlias, requireModel } from "./require_model.ts";

/** Ids and aliases may contain slashes: they are the rest of the path. */
export function lookupRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" })
    .use(access)
    .get(
      "/providers",
      async ({ request }) => {
        const { etag, providersBody } = (await cache.current()).catalog;
        return respondTagged(request, etag, () => providersBody);
      },
      { publicAccess: true, detail: PROVIDERS_DETAIL },
    )
    .get(
      "/aliases",
      async ({ request }) => {
        const { etag, aliasesBody } = (await cache.current()).catalog;
        return respondTagged(request, etag, () => aliasesBody);
      },
      { publicAccess: true, detail: ALIASES_DETAIL },
    )
    .get(
      "/resolve/*",
      async ({ request, params }) => {
        const current = await cache.current();
        const alias = decodeURIComponent(params["*"]);
        const { target, entry } = requireAlias(current.catalog, alias);
        const names = `"alias":${JSON.stringify(alias)},"target":${JSON.stringify(target)}`;
        return respondTagged(
          request,
          current.catalog.etag,
          () => `{"data":{${names},"model":${modelBody(entry, current)}}}`,
        );
      },
      { publicAccess: true, detail: RESOLVE_DETAIL },
    )
    .get(
      "/:provider/*",
      async ({ request, params }) => {
        const current = await cache.current();
        const entry = requireModel(current.catalog, modelKey(params));
        return respondTagged(request, current.catalog.etag, () => modelBody(entry, current));
      },
      { publicAccess: true, detail: MODEL_DETAIL },
    );
}

/** The model's JSON with the time of the last sync, which is the same for all models. */
function modelBody({ modelJson }: CatalogEntry, { version }: CurrentCatalog): string {
  return `${modelJson.slice(0, -1)},"syncedAt":${JSON.stringify(version.syncedAt)}}`;
}
