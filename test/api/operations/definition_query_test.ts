import { expect, test } from "bun:test";
import { ask, errorOf, publishAgent } from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

/** The reads of definitions with a valid query, each with a text that must be in its error for an unknown parameter. */
const READS: readonly (readonly [path: string, known: string])[] = [
  ["?limit=1", "type, "],
  ["/translation/version?", "there are no parameters"],
  ["/agent/reviewer?includeYaml=true", "includeYaml, includeRuntime, includeRefs, normalize"],
  ["/agent/@SLUG/reviewer?normalize=true", "includeYaml, includeRuntime, includeRefs, normalize"],
  ["/agent/reviewer/versions?limit=1", "limit, offset"],
  ["/agent/reviewer/diff?from=1.0.0&to=1.0.0", "from, to, format, full"],
  ["/agent/reviewer/dependencies?maxDepth=2", "maxDepth"],
  ["/agent/reviewer/dependents?", "there are no parameters"],
  ["/agent/reviewer/executions?window=5", "window, include, timeBucket"],
  ["/agent/reviewer/forkable?canForkAsPrivate=true", "canForkAsPrivate"],
  ["/agent/reviewer/lineage?", "there are no parameters"],
  ["/agent/reviewer/forks?", "there are no parameters"],
];

test("every read rejects unknown parameters and invalid values", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  for (const [read, known] of READS) {
    const path = read.replace("SLUG", person.org.slug);
    expect([path, (await ask(api, path, null)).status]).toEqual([path, 200]);
    const [status, code, details] = await errorOf(await ask(api, `${path}&includeYml=false`, null));
    expect([path, status, code]).toEqual([path, 400, "VALIDATION_ERROR"]);
    expect(details).toMatchObject({
      errors: [{ path: "includeYml", message: expect.stringContaining(known) }],
    });
  }
  for (const query of ["includeYaml=yes", "normalize=1", "includeRefs=", "normalize=true&normalize=true"]) {
    const refusal = await errorOf(await ask(api, `/agent/reviewer?${query}`, null));
    expect([query, ...refusal.slice(0, 2)]).toEqual([query, 400, "VALIDATION_ERROR"]);
  }
  const forkable = await errorOf(await ask(api, "/agent/reviewer/forkable?canForkAsPrivate=maybe", null));
  expect(forkable.slice(0, 2)).toEqual([400, "VALIDATION_ERROR"]);
});
