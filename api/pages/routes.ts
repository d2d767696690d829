/** Serves the icon and the files that pages load. Redirects /dashboard to the exports. */
import { Type } from "@sinclair/typebox";
import { type AnyOperation, operation, reply } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";
import { ASSET_HEADERS } from "../http/response/security_headers.ts";
import { readStaticFile, replyFile, type StaticFile, toStaticFile } from "../http/response/static_file.ts";

/** The files in `assets/` that pages load. Other files are not served. */
const ASSETS = [
  "account.js",
  "compare_models.js",
  "copy_button.js",
  "exports.js",
  "favicon.svg",
  "job_rows.js",
  "local_time.js",
  "passkey.js",
  "style.css",
  "tab_storage.js",
  "unsaved_text.js",
  "yaml_editor.js",
];

/** The parts of style.css by subject, which are joined so that pages load one stylesheet. */
const STYLE_PARTS = ["style.css", "definitions.css", "models.css", "accounts.css"];

function readAsset(name: string): StaticFile {
  if (name !== "style.css") return readStaticFile(assetUrl(name));
  const parts = STYLE_PARTS.map((part) => readStaticFile(assetUrl(part)));
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  return toStaticFile(new Uint8Array(bytes), "text/css; charset=utf-8");
}

function assetUrl(name: string): URL {
  return new URL(`./assets/${name}`, import.meta.url);
}

/** Properties of all operations. They are not part of the OpenAPI document. */
const BASE = { method: "GET", access: "public", tag: "Pages", documentedAs: [] } as const;

const openDashboard = operation(
  {
    ...BASE,
    id: "openDashboard",
    path: "/dashboard",
    summary: "Open the exports",
    description: "Redirects to the exports.",
    // Links from other sites may have parameters such as `utm_source`.
    uncheckedQuery: {},
    response: { 302: null },
  },
  async () => reply(302, null, { headers: { Location: "/dashboard/exports" } }),
);

/** Reads the files. Returns the operations that serve the files and redirect to the exports. */
export function createAssetOperations(): AnyOperation[] {
  const assets = new Map(ASSETS.map((name) => [name, readAsset(name)]));
  const served = { ...BASE, conditional: true, unlimited: true } as const;
  const requireAsset = (name: string): StaticFile => {
    const asset = assets.get(name);
    if (!asset) throw notFound("route");
    return asset;
  };
  const getIcon = operation(
    {
      ...served,
      id: "getIcon",
      path: "/favicon.ico",
      summary: "Get the icon",
      description: "Browsers request it unasked.",
      uncheckedQuery: {},
      response: { 200: { description: "The icon", files: { "image/svg+xml": null } } },
    },
    async () => replyFile(requireAsset("favicon.svg"), ASSET_HEADERS),
  );
  const getAsset = operation(
    {
      ...served,
      id: "getAsset",
      path: "/dashboard/assets/{file}",
      summary: "Get a file of the pages",
      description: "A script, a style sheet or an icon.",
      params: { file: Type.String({ description: "Name", examples: ["style.css"] }) },
      response: { 200: { description: "The file", files: { "text/javascript": null } } },
    },
    async ({ params: { file } }) => replyFile(requireAsset(file), ASSET_HEADERS),
  );
  return [getIcon, openDashboard, getAsset];
}
