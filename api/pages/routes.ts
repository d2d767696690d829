/** What pages load, the icon, and /dashboard, which leads to the exports. */
import { Elysia } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { access, notCounted } from "../http/access.ts";
import { rejectQuery } from "../http/query.ts";
import { ASSET_HEADERS } from "../http/response/security_headers.ts";
import {
  readStaticFile,
  type StaticFile,
  staticResponse,
  toStaticFile,
} from "../http/response/static_file.ts";

/** The files of `assets/` that pages load. No others are served. */
const ASSETS = [
  "compare_models.js",
  "copy_button.js",
  "download.js",
  "exports.js",
  "favicon.svg",
  "job_rows.js",
  "local_time.js",
  "org_switch.js",
  "project_downloads.js",
  "start_form.js",
  "style.css",
  "yaml_editor.js",
] as const;

/** Parts of style.css by subject, so that pages load one stylesheet. */
const STYLE_PARTS = ["style.css", "definitions.css", "models.css", "accounts.css"] as const;

function readAsset(name: string): StaticFile {
  if (name !== "style.css") return readStaticFile(assetUrl(name));
  const parts = STYLE_PARTS.map((part) => readStaticFile(assetUrl(part)));
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  return toStaticFile(new Uint8Array(bytes), "text/css; charset=utf-8");
}

function assetUrl(name: string): URL {
  return new URL(`./assets/${name}`, import.meta.url);
}

/** Serves `/favicon.ico`, which browsers request unasked. */
export function iconRoutes() {
  const icon = readAsset("favicon.svg");
  return new Elysia()
    .use(access)
    .get("/favicon.ico", ({ request }) => staticResponse(request, icon, ASSET_HEADERS), {
      publicAccess: true,
      detail: { hide: true, ...notCounted() },
    });
}

export function dashboardRoutes() {
  const assets = new Map(ASSETS.map((name) => [name as string, readAsset(name)]));
  const open = { publicAccess: true, detail: { hide: true } } as const;
  return new Elysia({ prefix: "/dashboard" })
    .use(access)
    .get("/", () => new Response(null, { status: 302, headers: { Location: "/dashboard/exports" } }), open)
    .get(
      "/assets/:file",
      ({ request, params }) => {
        rejectQuery(request);
        const asset = assets.get(params.file);
        if (!asset) throw new ApiError("NOT_FOUND", { details: { reason: "route" } });
        return staticResponse(request, asset, ASSET_HEADERS);
      },
      { publicAccess: true, detail: { hide: true, ...notCounted() } },
    );
}
