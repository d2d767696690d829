import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { openTestApp } from "../../helpers/http/app.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";
import { openPage } from "../../helpers/pages/forms.ts";

const ASSETS = new URL("../../../api/pages/assets/", import.meta.url);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Lists the addresses that a script imports. */
function listAddresses(text: string): string[] {
  const imports = [...text.matchAll(/^import .* from "\.\/([^"]*)";$/gm)];
  return imports.map(([, name]) => `/dashboard/assets/${name}`);
}

test("style.css combines all stylesheets", async () => {
  await using api = await openTestApp();
  const style = await (await api.request("/dashboard/assets/style.css")).text();
  const sheets = readdirSync(ASSETS).filter((name) => name.endsWith(".css"));
  expect(sheets.length).toBeGreaterThan(1);
  for (const name of sheets) expect(style).toContain(readFileSync(new URL(name, ASSETS), "utf8"));
});

test("/favicon.ico, which browsers request by default, returns the icon", async () => {
  await using api = await openTestApp();
  const icon = await api.request("/favicon.ico");
  expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
});

describe("the pages of the dashboard", () => {
  test("have a policy that allows only our own resources", async () => {
    await using api = await openTestApp();
    for (const path of ["/", "/dashboard/sign-in"]) {
      const { status, headers } = await openPage(api, path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
      expect(headers.get("content-security-policy")).toBe(POLICY);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      for (const absent of ["server", "x-powered-by", "set-cookie"]) {
        expect([absent, headers.get(absent)]).toEqual([absent, null]);
      }
    }
  });

  test("load only existing scripts, which do not build HTML from text", async () => {
    await using api = await openTestApp();
    const files = readdirSync(ASSETS).filter((name) => /\.(js|svg)$|^style\.css$/.test(name));
    for (const name of files) {
      const response = await api.request(`/dashboard/assets/${name}`);
      const text = await response.text();
      expect([name, response.status, /innerHTML|insertAdjacentHTML/.test(text)]).toEqual([name, 200, false]);
      for (const address of listAddresses(text)) {
        expect([address, (await api.request(address)).status]).toEqual([address, 200]);
      }
    }
  });

  test("preload all imported scripts, so that no script waits for a third request", async () => {
    await using api = await openTestApp();
    const { user } = await api.make.person();
    const { token } = await api.make.session({ userId: user.id });
    const page = await (await openPage(api, "/dashboard/exports", token)).text();
    const loaded = [...page.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+\.js)"/g)].map(([, at]) => at);
    for (const address of loaded) {
      const text = await (await api.request(address ?? "")).text();
      for (const imported of listAddresses(text)) expect(loaded).toContain(imported);
    }
    expect(loaded.length).toBeGreaterThan(3);
  });

  test("start at /dashboard, which redirects to the exports page", async () => {
    await using api = await openTestApp();
    for (const path of ["/dashboard", "/dashboard/"]) {
      const { status, headers } = await api.request(path);
      expect([status, headers.get("location")]).toEqual([302, "/dashboard/exports"]);
    }
  });
});

describe("a file that pages load", () => {
  test("has a media type and a strong ETag, and is revalidated each time", async () => {
    await using api = await openTestApp();
    const types = {
      "exports.js": "text/javascript; charset=utf-8",
      "style.css": "text/css; charset=utf-8",
      "favicon.svg": "image/svg+xml",
    };
    for (const [name, type] of Object.entries(types)) {
      const { status, headers } = await api.request(`/dashboard/assets/${name}`);
      expect([status, headers.get("content-type")]).toEqual([200, type]);
      expect(headers.get("etag")).toMatch(/^"[\w-]{43}"$/);
      expect(headers.get("cache-control")).toBe("no-cache");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("is not sent again to a browser that has the current version", async () => {
    await using api = await openTestApp();
    for (const path of ["/dashboard/assets/exports.js", "/dashboard/assets/style.css"]) {
      const first = await api.request(path);
      const etag = first.headers.get("etag") ?? "";
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await api.request(path, { headers: { "if-none-match": condition } });
        expect([condition, again.status, await again.text()]).toEqual([condition, 304, ""]);
        expect(again.headers.get("etag")).toBe(etag);
        expect(again.headers.get("cache-control")).toBe("no-cache");
      }
      for (const condition of ['"other"', "", etag.slice(0, -1)]) {
        const again = await api.request(path, { headers: { "if-none-match": condition } });
        expect([condition, again.status]).toEqual([condition, 200]);
      }
    }
  });

  test("has the same Content-Length for HEAD as for GET over a socket", async () => {
    await using server = await openListeningApp();
    for (const path of ["/dashboard/assets/exports.js"]) {
      // Without this header, fetch() would request a compressed body.
      const sent = { "accept-encoding": "identity" };
      const body = await (await fetch(server.origin + path, { headers: sent })).arrayBuffer();
      const { status, headers } = await fetch(server.origin + path, { method: "HEAD", headers: sent });
      expect([status, headers.get("content-length")]).toEqual([200, String(body.byteLength)]);
      expect(headers.get("etag")).toBeString();
    }
  });

  test("is served only if it is on a fixed list", async () => {
    await using api = await openTestApp();
    for (const name of [
      "exports.html",
      "tsconfig.json",
      "nothing.js",
      "..%2Froutes.ts",
      "%2e%2e%2f%2e%2e%2fmain.ts",
      "constructor",
      "__proto__",
    ]) {
      const response = await api.request(`/dashboard/assets/${name}`);
      expect([name, response.status]).toEqual([name, 404]);
      expect(await response.json()).toMatchObject({
        error: { code: "NOT_FOUND", details: { reason: "route" } },
      });
    }
  });
});
