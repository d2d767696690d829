import { expect, test } from "bun:test";
import { bundleManifest, organizationManifest } from "../../../shared/exports/manifest.ts";

/** Line and paragraph separators, and control characters except LF. Python's splitlines() splits at some of them. */
const LINE_ENDS = /[^\P{Cc}\n]|[\u2028\u2029]/u;

test("manifests escape all line separators and control characters in names", async () => {
  const name = "a\u2028b\u0085c\vd\r\ne";
  const project = { id: crypto.randomUUID(), name };
  const files = {};
  const head = {
    asOf: "2026-01-01T00:00:00.000Z",
    since: null,
    format: "ndjson" as const,
    organization: { id: crypto.randomUUID(), slug: "demo", name },
    visibility: {
      includeDeleted: false,
      includeArchived: false,
      includeSuperseded: false,
      includeResolved: true,
    },
  };
  const ofProject = bundleManifest({ ...head, project, files, deleted: null });
  const projects = [{ directory: "a__1", project, files, deleted: null }];
  const ofOrganization = Buffer.concat(
    await Array.fromAsync(organizationManifest({ ...head, projects })),
  ).toString();
  for (const text of [ofProject, ofOrganization]) expect(text).not.toMatch(LINE_ENDS);
  expect(JSON.parse(ofProject)).toMatchObject({ project, organization: head.organization });
  expect(JSON.parse(ofOrganization)).toMatchObject({
    projects: [{ project }],
    organization: head.organization,
  });
});
