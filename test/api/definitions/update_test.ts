import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  bareYaml,
  type Caller,
  createAgent,
  definitionOf,
  errorOf,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

function put(api: TestApp, caller: Caller, path: string, body?: unknown): Promise<Response> {
  return ask(api, path, caller, { method: "PUT", ...(body === undefined ? {} : { body }) });
}

test("PUT writes fields into the document, keeps comments and renders the document again", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = `# kept\n${agentYaml("reviewer")}`;
  const made = await createAgent(api, person, { name: "reviewer", yaml });
  const fields = {
    displayName: "Second Reader",
    description: "Reads a change a second time, slowly.",
    domain: "security",
    subdomain: "reviews",
    agentType: "analyst",
    tags: ["slow"],
  };
  const response = await put(api, person, "/agent/reviewer@1.0.0", fields);
  expect(response.status).toBe(200);
  const changed = await definitionOf(response);
  expect(changed).toMatchObject({ ...fields, id: made.id, status: "draft", version: "1.0.0" });
  expect(changed.yaml).toStartWith("# kept\n");
  expect(changed.yaml).toContain("displayName: Second Reader");
  expect(changed.hash).not.toBe(made.hash);
  // The agent type "analyst" requires a process block, which the document lacks.
  expect(changed).toMatchObject({ runtimeMd: null, translationError: { reason: "missing_block" } });
  const [audited] = await api.db.sql`select action from audit_log order by id desc limit 1`;
  expect(audited).toEqual({ action: "definition.update" });
});

test("PUT accepts a new document and writes the other fields into it", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer" });
  const yaml = agentYaml("reviewer", "1.0.0", { displayName: "From the document", domain: "legal" });
  const changed = await definitionOf(
    await put(api, person, "/agent/reviewer@1.0.0", { yaml, displayName: "From the body" }),
  );
  expect(changed).toMatchObject({ displayName: "From the body", domain: "legal" });
  expect(changed.yaml).toContain("displayName: From the body");
});

test("PUT changes settings outside the document, and an empty body changes nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await createAgent(api, person, { name: "reviewer" });
  for (const body of [undefined, {}]) {
    const { updatedAt, ...same } = await definitionOf(await put(api, person, "/agent/reviewer@1.0.0", body));
    expect({ ...same, updatedAt: made.updatedAt }).toEqual(made);
  }
  const settings = { visibility: "public", provenance: { authorshipType: "agent" }, tier: "org" };
  const notes = { changeSummary: "First try", changeType: "patch" };
  const changed = await definitionOf(
    await put(api, person, "/agent/reviewer@1.0.0", { ...settings, ...notes }),
  );
  expect(changed).toMatchObject({ ...settings, authorshipType: "agent", yaml: made.yaml });
  const [row] = await api.db.sql`select change_summary, change_type from definitions`;
  expect(row).toEqual(notes);
  const cleared = await definitionOf(await put(api, person, "/agent/reviewer@1.0.0", { provenance: null }));
  expect(cleared).toMatchObject({ provenance: null, authorshipType: null, visibility: "public" });
});

test("a workflow's tags and subdomain are stored in columns and change only if a PUT contains them", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = `${bareYaml("workflow", "checks")}    tags: [first]\n`;
  await write(api, "/workflow/checks", person, { body: { yaml } });
  const change = async (body: unknown) =>
    definitionOf(await put(api, person, "/workflow/checks@1.0.0", body));
  expect(await change({ tags: [" second ", "second"], subdomain: "ci" })).toMatchObject({
    yaml,
    tags: ["second"],
    subdomain: "ci",
  });
  const renamed = await change({ displayName: "All checks" });
  expect(renamed).toMatchObject({ tags: ["second"], subdomain: "ci", displayName: "All checks" });
  expect(renamed.yaml).toContain("tags: [first]");
  expect(await change({ yaml, subdomain: "" })).toMatchObject({ tags: ["second"], subdomain: null });
});

test("PUT refuses invalid changes with the reason and changes nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await createAgent(api, person, { name: "reviewer" });
  const long = agentYaml("reviewer") + "#".repeat(153_600);
  const nearly = agentYaml("reviewer").padEnd(153_590, "#");
  const cases: readonly [path: string, body: unknown, refusal: readonly unknown[]][] = [
    ["/agent/reviewer", { displayName: "x" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0", { displayName: "x" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { displayName: 1 }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { displayName: "a\0b" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { domain: "cooking" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { agentType: "unknown" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { tags: Array(51).fill("x") }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { tags: ["x".repeat(4001)] }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { subdomain: "x".repeat(1001) }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { tier: "user" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { tier: "pro" }, [403, "ROLE_REQUIRED"]],
    ["/agent/reviewer@2.0.0", { displayName: "x" }, [404, "NOT_FOUND"]],
    ["/agent/nobody@1.0.0", { displayName: "x" }, [404, "NOT_FOUND"]],
    ["/agent/reviewer@1.0.0", { yaml: long }, [413, "PAYLOAD_TOO_LARGE"]],
    [
      "/agent/reviewer@1.0.0",
      { yaml: nearly, displayName: "A name that is longer" },
      [413, "PAYLOAD_TOO_LARGE"],
    ],
    ["/agent/reviewer@1.0.0", { yaml: "agent: 1" }, [422, "UNPROCESSABLE_ENTITY"]],
    [
      "/agent/reviewer@1.0.0",
      { tags: [..."12345"].map((tag) => tag.repeat(801)) },
      [422, "UNPROCESSABLE_ENTITY"],
    ],
    ["/agent/reviewer@1.0.0", { yaml: `${made.yaml}# \0` }, [422, "UNPROCESSABLE_ENTITY"]],
    ["/agent/reviewer@1.0.0", { yaml: agentYaml("reviewer", "1.0.1") }, [422, "VERSION_MISMATCH"]],
    ["/agent/reviewer@1.0.0", { yaml: agentYaml("other") }, [422, "NAME_MISMATCH"]],
  ];
  for (const [path, body, refusal] of cases) {
    const response = await errorOf(await put(api, person, path, body));
    expect([path, body, ...response.slice(0, 2)]).toEqual([path, body, ...refusal]);
  }
  expect(await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person))).toEqual(made);
});

test("only platform administrators can set tier pro", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer" });
  expect(await errorOf(await put(api, person, "/agent/reviewer@1.0.0", { tier: "pro" }))).toEqual([
    403,
    "ROLE_REQUIRED",
    { requiredRole: "admin" },
  ]);
  await api.db.sql`update users set platform_role = 'admin' where id = ${person.user.id}`;
  // Credentials, including the platform role, are cached for a second.
  const response = await waitFor(async () => {
    const response = await put(api, person, "/agent/reviewer@1.0.0", { tier: "pro" });
    return response.status === 403 ? null : response;
  });
  expect((await definitionOf(response)).tier).toBe("pro");
});

test("PUT rejects a published version, and the error states the status", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer" });
  const response = await put(api, person, "/agent/reviewer@1.0.0", { displayName: "x" });
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect([response.status, error["code"], error["details"]]).toEqual([
    400,
    "NOT_EDITABLE",
    { status: "published" },
  ]);
  expect(error["message"]).toContain("'published' status");
});

test("concurrent PUTs do not lose each other's changes", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer" });
  const bodies = [{ displayName: "Racer" }, { domain: "legal" }, { tags: ["fast"] }, { subdomain: "races" }];
  await Promise.all(bodies.map((body) => put(api, person, "/agent/reviewer@1.0.0", body)));
  expect(await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person))).toMatchObject(
    Object.assign({}, ...bodies),
  );
});

test("PUT ignores minSubscription, which older clients send", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer" });
  const body = { minSubscription: "pro", subdomain: "reviews" };
  const changed = await write(api, "/agent/reviewer@1.0.0", person, { method: "PUT", body });
  expect(await definitionOf(changed)).toMatchObject({ minSubscription: "free", subdomain: "reviews" });
});
