import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  bareYaml,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const HOSTILE = agentYaml("reviewer", "1.0.0", { author: '"<script>alert(1)</script>"' });

test("a path ending in .md or .yaml, or the Accept header, selects the rendering or the source", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const definition = await publishAgent(api, person, {
    name: "reviewer",
    yaml: HOSTILE,
    visibility: "public",
  });
  const { id, runtimeMd } = definition;
  const addresses = [
    "reviewer",
    "reviewer@1.0.0",
    `@${person.org.slug}/reviewer`,
    `@${person.org.slug}%2Freviewer@1.0.0`,
    id,
  ];
  const formats = [
    { ending: ".md", accept: "text/markdown", type: "text/markdown; charset=utf-8", text: runtimeMd },
    { ending: ".yaml", accept: "application/yaml", type: "application/yaml", text: HOSTILE },
  ];
  for (const { ending, accept, type, text } of formats) {
    for (const address of addresses) {
      const ended = await ask(api, `/agent/${address}${ending}`, null);
      const accepted = await ask(api, `/agent/${address}`, null, { headers: { accept } });
      expect([ended.status, await ended.text()]).toEqual([200, text ?? ""]);
      expect([accepted.status, await accepted.text()]).toEqual([200, text ?? ""]);
      for (const { headers } of [ended, accepted]) {
        expect(headers.get("content-type")).toBe(type);
        expect(headers.get("content-disposition")).toStartWith(`attachment; filename="reviewer${ending}"`);
        expect(headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(headers.get("vary")?.split(", ")).toContain("Accept");
        const etag = headers.get("etag") ?? "";
        const again = await ask(api, `/agent/${address}${ending}`, null, {
          headers: { "if-none-match": etag },
        });
        expect([again.status, await again.text()]).toEqual([304, ""]);
      }
      const head = await ask(api, `/agent/${address}${ending}`, null, { method: "HEAD" });
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text ?? "")));
    }
  }
  const json = await ask(api, "/agent/reviewer", null, { headers: { accept: "text/html, */*" } });
  expect(json.headers.get("content-type")).toStartWith("application/json");
});

test("the text of a deprecated version has deprecation headers, and a missing rendering returns 404", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "old", visibility: "public" });
  await write(api, "/agent/old@1.0.0/deprecate", person, { body: { reason: "Old", successor: "new" } });
  const deprecated = await ask(api, "/agent/old@1.0.0.md", null);
  expect(deprecated.headers.get("deprecation")).toMatch(/^@\d+$/);
  expect(deprecated.headers.get("link")).toContain("successor-version");
  await publishAgent(api, person, { name: "bare", yaml: bareYaml("agent", "bare"), visibility: "public" });
  const bare = await ask(api, "/agent/bare.md", null);
  expect(await errorOf(bare)).toEqual([404, "NOT_FOUND", { reason: "runtime", type: "agent", name: "bare" }]);
  expect((await ask(api, "/agent/bare.yaml", null)).status).toBe(200);
});

test("a text that the caller may not see is indistinguishable from a missing text", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "secret" });
  for (const ending of [".md", ".yaml"]) {
    const hidden = await errorOf(await ask(api, `/agent/secret@1.0.0${ending}`, null));
    const absent = await errorOf(await ask(api, `/agent/absent@1.0.0${ending}`, null));
    expect(JSON.stringify(hidden).replaceAll("secret", "absent")).toBe(JSON.stringify(absent));
    expect((await ask(api, `/agent/secret@1.0.0${ending}`, person)).status).toBe(200);
  }
  for (const path of [
    "/agent/secret.md?includeYaml=true",
    "/agent/secret.txt",
    "/agent/.md",
    "/agent/secret.md.md",
  ])
    expect((await ask(api, path, person)).status).toBe(400);
  expect((await ask(api, "/agent/secret@1.0.0.md/versions", person)).status).toBe(400);
});
