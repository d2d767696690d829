import { expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { DEFINITION_TYPES } from "../../../../shared/vocabulary.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("the schema of each type is served to everyone, with an ETag", async () => {
  await using api = await openTestApp({ config: { publicUrl: "https://ulr.example" } });
  for (const type of DEFINITION_TYPES) {
    const path = `/schemas/${type}.json`;
    const response = await api.request(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/schema+json"]);
    const etag = response.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+"$/);
    const schema = (await response.json()) as { $id: string };
    expect(schema.$id).toBe(`https://ulr.example${path}`);
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect(validate({ [type]: { interface: { name: "a", version: "1.0.0" } } })).toBe(true);
    expect(validate({ [type]: { interface: { name: "a" } } })).toBe(false);
    const again = await api.request(path, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const compressing = { "accept-encoding": "gzip" };
    const compressed = await api.request(path, { headers: compressing });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    const known = { ...compressing, "if-none-match": compressed.headers.get("etag") ?? "" };
    expect((await api.request(path, { headers: known })).status).toBe(304);
  }
  expect((await api.request("/schemas/robot.json")).status).toBe(404);
  expect((await api.request("/schemas/agent.json?x=1")).status).toBe(400);
});
