/** Routes outside the API ignore unknown query parameters, because other sites and tools add parameters to URLs. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";

test("pages, probes and metrics ignore unknown parameters", async () => {
  await using api = await openTestApp();
  const paths = ["/health/live", "/health/ready", "/metrics", "/swagger", "/dashboard", "/favicon.ico"];
  for (const path of [...paths, "/security-policy", "/.well-known/security.txt", "/models"]) {
    const { status } = await api.request(`${path}?utm_source=a&x`);
    expect([path, status]).toEqual([path, path === "/dashboard" ? 302 : 200]);
  }
});
