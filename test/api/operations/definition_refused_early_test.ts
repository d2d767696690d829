/** Tests that requests are refused without reading a document, unless the outcome depends on the document. */
import { expect, test } from "bun:test";
import {
  ask,
  type Caller,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { largeAgentYaml } from "../../helpers/definitions/large_documents.ts";
import { openTestApp } from "../../helpers/http/app.ts";

test("names, permissions and bodies are checked before a document is read from the store", async () => {
  await using api = await openTestApp();
  const author = await api.make.person({ tier: "free" });
  const viewer = await api.make.person({ org: author.org, role: "viewer" });
  const stranger = await api.make.person();
  const yaml = largeAgentYaml("large");
  await publishAgent(api, author, { name: "large", yaml, visibility: "public" });
  const next = largeAgentYaml("large", "1.1.0", 1);
  await publishAgent(api, author, { name: "large", version: "1.1.0", yaml: next, visibility: "public" });
  await createAgent(api, author, { name: "sketch" });
  // From here on, a request that needs to read a document returns 503.
  await api.deps.documents.close();
  const body = { yaml: largeAgentYaml("new") };
  const wrongTime = {
    authorshipType: "human",
    contributors: [{ role: "author", type: "human", contributedAt: "x" }],
  };
  const cases: readonly [
    method: string,
    path: string,
    caller: Caller,
    body: unknown,
    status: number,
    code: string,
  ][] = [
    ["POST", "/agent/new", author, body, 503, "SERVICE_UNAVAILABLE"],
    ["POST", "/agent/new", viewer, body, 403, "INSUFFICIENT_ORG_ROLE"],
    ["POST", "/agent/new", { key: stranger.key, org: author.org }, body, 403, "ORG_ACCESS_DENIED"],
    ["POST", "/agent/New", author, body, 400, "VALIDATION_ERROR"],
    ["POST", "/robot/new", author, body, 400, "VALIDATION_ERROR"],
    ["POST", "/agent/new@1.0.0", author, body, 400, "VALIDATION_ERROR"],
    ["POST", "/agent/new", author, { ...body, visibility: "secret" }, 400, "VALIDATION_ERROR"],
    ["POST", "/agent/new", author, { ...body, provenance: wrongTime }, 400, "VALIDATION_ERROR"],
    ["PUT", "/agent/sketch@1.0.0", author, body, 503, "SERVICE_UNAVAILABLE"],
    ["PUT", "/agent/sketch@1.0.0", viewer, body, 403, "INSUFFICIENT_ORG_ROLE"],
    ["PUT", "/agent/sketch@1.0.0", stranger, body, 404, "NOT_FOUND"],
    ["PUT", "/agent/sketch@2.0.0", author, body, 404, "NOT_FOUND"],
    ["PUT", "/agent/large@1.0.0", author, body, 400, "NOT_EDITABLE"],
    ["PUT", "/agent/sketch@1.0.0", author, { ...body, tier: "pro" }, 403, "ROLE_REQUIRED"],
    ["PUT", "/agent/sketch@1.0.0", author, { ...body, tags: ["\0"] }, 400, "VALIDATION_ERROR"],
    ["PUT", "/agent/sketch@1.0.0", author, { ...body, provenance: wrongTime }, 400, "VALIDATION_ERROR"],
    ["POST", "/agent/large/upgrade", author, body, 409, "ALREADY_DUAL_STORAGE"],
    ["POST", "/agent/other/upgrade", author, body, 404, "NOT_FOUND"],
    ["POST", "/agent/large@1.0.0/publish", author, undefined, 409, "INVALID_TRANSITION"],
    ["POST", "/agent/large@1.0.0/fork", author, { name: "copy" }, 503, "SERVICE_UNAVAILABLE"],
    ["POST", "/agent/large@1.0.0/fork", author, { name: "sketch" }, 409, "NAME_TAKEN"],
    ["POST", "/agent/large@1.0.0/fork", viewer, { name: "copy" }, 403, "INSUFFICIENT_ORG_ROLE"],
    ["POST", "/agent/large@1.0.0/retranslate", stranger, undefined, 404, "NOT_FOUND"],
  ];
  for (const [method, path, caller, sent, ...expected] of cases) {
    const where = { key: caller.key, org: caller.org ?? author.org };
    const options = { method, ...(sent === undefined ? {} : { body: sent }) };
    const response = await write(api, path, caller === stranger ? { key: caller.key } : where, options);
    expect([method, path, ...(await errorOf(response)).slice(0, 2)]).toEqual([method, path, ...expected]);
  }
  const diff = "/agent/large/diff?from=1.0.0&to=1.1.0";
  expect((await ask(api, `${diff}&format=fields`, author)).status).toBe(402);
  expect((await ask(api, diff, author)).status).toBe(503);
});
