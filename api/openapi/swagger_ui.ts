/** GET /swagger, its assets and /swagger/json: Swagger UI, served entirely by this process. */
import { Type } from "@sinclair/typebox";
import { type AnyOperation, operation } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";
import { ASSET_HEADERS, PAGE_HEADERS } from "../http/response/security_headers.ts";
import { readStaticFile, replyFile, type StaticFile, toStaticFile } from "../http/response/static_file.ts";
import { buildOpenApi, type DocumentOptions } from "./document.ts";

/** Allows only scripts and styles of this origin, no inline code, and no framing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API documentation</title>
<link rel="stylesheet" href="/swagger/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page requires JavaScript. The OpenAPI document is at <a href="/swagger/json">/swagger/json</a>.</noscript>
<script src="/swagger/assets/swagger-ui-bundle.js"></script>
<script src="/swagger/assets/start.js"></script>
</body>
</html>
`;

/**
 * `dark-mode` is a class of Swagger UI. The browser stores the key, which survives a reload. References are resolved by Swagger
 * UI's rules for OpenAPI 3.0. By the rules for 3.1, it traverses the whole document for each displayed operation, which takes
 * seconds.
 */
const START_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const resolveAs30 = ({ fn: { resolveSubtree } }) => ({
  fn: { resolveSubtree: (spec, ...rest) => resolveSubtree({ ...spec, openapi: "3.0.4" }, ...rest) },
});
SwaggerUIBundle({
  url: "/swagger/json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: true,
  plugins: [resolveAs30],
});
`;

/** Reads the files that the page needs. No other file of swagger-ui-dist is served. */
function readAssets(): ReadonlyMap<string, StaticFile> {
  return new Map([
    ["swagger-ui.css", readAsset(import.meta.resolve("swagger-ui-dist/swagger-ui.css"))],
    ["swagger-ui-bundle.js", readAsset(import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js"))],
    ["start.js", textFile(START_SCRIPT, "text/javascript")],
  ]);
}

function readAsset(url: string): StaticFile {
  return readStaticFile(new URL(url));
}

function textFile(text: string, type: string): StaticFile {
  return toStaticFile(new TextEncoder().encode(text), `${type}; charset=utf-8`);
}

/** These operations are not in the document itself. */
const BASE = {
  method: "GET",
  access: "public",
  tag: "Documentation",
  conditional: true,
  documentedAs: [],
} as const;

/** Creates the operations that serve the documentation of `operations`. */
export function createSwaggerOperations(
  operations: readonly AnyOperation[],
  options: DocumentOptions,
): AnyOperation[] {
  let document: Promise<StaticFile> | undefined;
  const getDocument = operation(
    {
      ...BASE,
      id: "getOpenApiDocument",
      path: "/swagger/json",
      summary: "Get the OpenAPI document",
      description: "Made when it is first read.",
      response: { 200: { description: "The document", files: { "application/json": null } } },
    },
    async () => {
      document ??= buildOpenApi(operations, options).then((built) =>
        textFile(JSON.stringify(built), "application/json"),
      );
      return replyFile(await document, ASSET_HEADERS);
    },
  );
  return [getSwaggerUi, getSwaggerAsset, getDocument];
}

const getSwaggerUi = operation(
  {
    ...BASE,
    id: "getSwaggerUi",
    path: "/swagger",
    summary: "Get Swagger UI",
    description: "The page that shows the document.",
    // Links on other sites may have query parameters, such as `utm_source`.
    uncheckedQuery: {},
    response: { 200: { description: "The page", files: { "text/html": null } } },
  },
  async () => {
    const headers = { ...PAGE_HEADERS, "Content-Security-Policy": CONTENT_SECURITY_POLICY };
    return replyFile(textFile(PAGE, "text/html"), headers);
  },
);

let assets: ReadonlyMap<string, StaticFile> | undefined;

const getSwaggerAsset = operation(
  {
    ...BASE,
    id: "getSwaggerAsset",
    path: "/swagger/assets/{file}",
    summary: "Get a file of Swagger UI",
    description: "A script or a style sheet.",
    params: { file: Type.String({ description: "Name", examples: ["start.js"] }) },
    response: { 200: { description: "The file", files: { "text/javascript": null } } },
    unlimited: true,
  },
  async ({ params: { file } }) => {
    assets ??= readAssets();
    const asset = assets.get(file);
    if (!asset) throw notFound("route");
    return replyFile(asset, ASSET_HEADERS);
  },
);
