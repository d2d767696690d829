import { expect, test } from "bun:test";
import { agentYaml, definitionOf, errorOf, write } from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const YAML = { headers: { "content-type": "application/yaml; charset=utf-8" } };

test("POST and PUT accept the document itself as the body, with the other fields as query parameters", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = `# Überprüft\n${agentYaml("reviewer")}`;
  const created = await write(api, "/agent/reviewer?visibility=unlisted", person, { ...YAML, body: yaml });
  expect(created.status).toBe(201);
  expect(await definitionOf(created)).toMatchObject({ yaml, visibility: "unlisted" });
  const changed = agentYaml("reviewer", "1.0.0", { domain: "security" });
  const query = "?visibility=public&tags=a&tags=b&changeSummary=Renamed";
  const updated = await write(api, `/agent/reviewer@1.0.0${query}`, person, {
    ...YAML,
    method: "PUT",
    body: changed,
  });
  expect(await definitionOf(updated)).toMatchObject({
    visibility: "public",
    domain: "security",
    tags: ["a", "b"],
  });
  const only = await write(api, "/agent/reviewer@1.0.0?visibility=private", person, {
    ...YAML,
    method: "PUT",
  });
  expect(await definitionOf(only)).toMatchObject({ visibility: "private", domain: "security" });
});

test("older media types for YAML are accepted", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const [index, type] of ["application/x-yaml", "text/yaml; charset=utf-8", "text/x-yaml"].entries()) {
    const name = `agent-${index}`;
    const options = { headers: { "content-type": type }, body: agentYaml(name) };
    expect([type, (await write(api, `/agent/${name}`, person, options)).status]).toEqual([type, 201]);
  }
});

test("a YAML body that is not text or is too large is refused, and so are misplaced parameters", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const post = (query: string, options: object) => write(api, `/agent/reviewer${query}`, person, options);
  const yaml = agentYaml("reviewer");
  const request = new Request("http://localhost/api/v1/definitions/agent/reviewer", {
    method: "POST",
    headers: { ...YAML.headers, authorization: `Bearer ${person.key}` },
    body: new Uint8Array([0x61, 0xff]),
  });
  expect((await api.app.handle(request, "192.0.2.1")).status).toBe(400);
  expect(await errorOf(await post("", { ...YAML, body: `# ${"x".repeat(153_600)}` }))).toEqual([
    413,
    "PAYLOAD_TOO_LARGE",
    { maxSize: 153_600 },
  ]);
  expect((await post("", { ...YAML, body: "x".repeat(1_048_577) })).status).toBe(413);
  expect((await post("?visibility=secret", { ...YAML, body: yaml })).status).toBe(400);
  expect((await post("?yaml=x", { ...YAML, body: yaml })).status).toBe(400);
  expect((await post("", { ...YAML, body: "" })).status).toBe(400);
  expect((await post("?visibility=public", { body: { yaml } })).status).toBe(400);
  for (const [query, type] of [
    ["", "text/plain"],
    ["?visibility=public", "application/x-www-form-urlencoded"],
  ] as const) {
    const plain = await post(query, { headers: { "content-type": type }, body: yaml });
    expect([plain.status, await plain.json()]).toMatchObject([
      415,
      { error: { message: "Unsupported content type. Send application/json or application/yaml." } },
    ]);
  }
  const compressed = { ...YAML.headers, "content-encoding": "gzip" };
  expect((await post("", { headers: compressed, body: yaml })).status).toBe(415);
  const fork = await write(api, "/agent/reviewer/fork", person, { ...YAML, body: "name: mine" });
  expect(fork.status).toBe(415);
});
