/** GET /definitions/translation/version, POST …/retranslate and …/upgrade: the runtime text, made anew. */
import { Elysia, t } from "elysia";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { access } from "../http/access.ts";
import { rejectQuery } from "../http/query.ts";
import { DefinitionParams, parseAddress, parseVersionAddress } from "./address.ts";
import type { DefinitionDeps } from "./document.ts";
import { findLineWriter } from "./find_writable.ts";
import { RETRANSLATE_DETAIL, TRANSLATOR_DETAIL, UPGRADE_DETAIL } from "./openapi/translation.ts";
import { retranslateDefinition } from "./retranslate.ts";
import { upgradeDefinition } from "./upgrade.ts";

const RetranslateBody = t.Object(
  { createNewVersion: t.Optional(t.Boolean()) },
  { title: "Retranslation", additionalProperties: false, examples: [{ createNewVersion: true }] },
);
const UpgradeBody = t.Object(
  { yaml: t.String() },
  { title: "Upgrade", additionalProperties: false, examples: [{ yaml: EXAMPLE_YAML }] },
);

export function translationRoutes(deps: DefinitionDeps) {
  const { sql } = deps;
  return new Elysia({ prefix: "/definitions" })
    .use(access)
    .get(
      "/translation/version",
      ({ request }) => {
        rejectQuery(request);
        return { data: { translatorVersion: TRANSLATOR_VERSION } };
      },
      { publicAccess: true, detail: TRANSLATOR_DETAIL },
    )
    .post(
      "/:type/:name/retranslate",
      async ({ params, body, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        const createNewVersion = body?.createNewVersion ?? false;
        return retranslateDefinition(deps, { writer, address, createNewVersion });
      },
      {
        access: "caller",
        params: DefinitionParams,
        body: t.Optional(RetranslateBody),
        detail: RETRANSLATE_DETAIL,
      },
    )
    .post(
      "/:type/:name/upgrade",
      async ({ params, body, request, caller, status }) => {
        const asked = parseAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        return status(201, await upgradeDefinition(deps, { writer, address, yaml: body.yaml }));
      },
      { access: "caller", params: DefinitionParams, body: UpgradeBody, detail: UPGRADE_DETAIL },
    );
}
