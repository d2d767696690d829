/** The templates for new documents are valid documents. */
import { expect, test } from "bun:test";
import { templateOf } from "../../../../../api/pages/definitions/edit/templates.ts";
import { DEFINITION_TYPES } from "../../../../../shared/vocabulary.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

interface Validation {
  valid: boolean;
  errors: unknown[];
  warnings: { code: string }[];
  runtimeMd: string | null;
}

test("a template of each type can be published, and its only warning is the placeholder reference", async () => {
  await using api = await openTestApp();
  const { key } = await api.make.person();
  for (const type of DEFINITION_TYPES) {
    const body = { type, yaml: templateOf(type), publish: true };
    const response = await api.request("/api/v1/definitions/validate", { method: "POST", key, body });
    const { data } = (await response.json()) as { data: Validation };
    const codes = data.warnings.map(({ code }) => code);
    expect([type, data.valid, data.errors, codes]).toEqual([
      ...[type, true, []],
      type === "agent" ? [] : ["UNRESOLVED_REFERENCE"],
    ]);
    expect(data.runtimeMd).toContain("# My ");
  }
});
