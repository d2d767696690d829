/** GET /swagger and what it loads: Swagger UI, every byte of it served by this process, and /swagger/json. */
import { fileURLToPath } from "node:url";
import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "../shared/errors.ts";
import { access } from "./access.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { buildOpenApi } from "./openapi_document.ts";

/** Scripts and styles from here only, no inline ones, and no page may put this one in a frame. */
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
<link rel="icon" type="image/png" href="/swagger/assets/favicon-32x32.png">
<link rel="stylesheet" href="/swagger/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; the same is in <a href="/swagger/json">/swagger/json</a> to read.</noscript>
<script src="/swagger/assets/swagger-ui-bundle.js"></script>
<script src="/swagger/assets/start.js"></script>
</body>
</html>
`;

/** `dark-mode` is Swagger UI's own class. A key that was typed in stays in the page and is gone with it. */
const START_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  url: "/swagger/json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
});
`;

/** The files of swagger-ui-dist that the page needs, by name; no other is served. */
const ASSETS: ReadonlyMap<string, () => string> = new Map([
  ["swagger-ui.css", () => import.meta.resolve("swagger-ui-dist/swagger-ui.css")],
  ["swagger-ui-bundle.js", () => import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")],
  ["favicon-32x32.png", () => import.meta.resolve("swagger-ui-dist/favicon-32x32.png")],
]);

/** Assets change with a release only. */
const ASSET_HEADERS = { "Cache-Control": "public, max-age=3600" } as const;

function assetResponse(name: string): Response {
  if (name === "start.js") {
    const headers = { ...ASSET_HEADERS, "Content-Type": "text/javascript; charset=utf-8" };
    return new Response(START_SCRIPT, { headers });
  }
  const resolve = ASSETS.get(name);
  if (!resolve) throw new ApiError("NOT_FOUND", { details: { reason: "route" } });
  return new Response(Bun.file(fileURLToPath(resolve())), { headers: ASSET_HEADERS });
}

/** `service` holds the routes that are described. */
export function docsRoutes(service: AnyElysia) {
  let document: Promise<OpenApiDocument> | undefined;
  const hidden = { publicAccess: true, detail: { hide: true } } as const;
  return new Elysia({ prefix: "/swagger" })
    .use(access)
    .get(
      "/",
      () =>
        new Response(PAGE, {
          headers: {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Referrer-Policy": "no-referrer",
          },
        }),
      hidden,
    )
    .get("/assets/:file", ({ params }) => assetResponse(params.file), hidden)
    .get(
      "/json",
      () => {
        document ??= buildOpenApi(service);
        return document;
      },
      hidden,
    );
}
