/** Variables and secrets of a pipeline; secrets by name only. */
import { scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import { shownValue } from "../assignments.ts";
import type { Fields } from "../field_reader.ts";
import { code, given, type Inline, join, listed } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { yesNo } from "../phrases.ts";

export function writeEnvironment(w: MarkdownWriter, environment: Fields): void {
  w.table(["Variable", "Value", "Stages"], [...listVariables(environment), ...mappedVariables(environment)]);
  const secrets = [...listSecrets(environment), ...mappedSecrets(environment)];
  w.table(["Secret", "Required", "Stages", "Provider"], secrets);
}

function listVariables(environment: Fields): (Inline | null)[][] {
  return environment.entries("variables", "name").map((variable) => {
    const name = variable.text("name");
    const value = variable.text("value");
    const shown = given(value, (text) => shownValue(name ?? "", text));
    return [code(name ?? ""), shown, listed(variable.codes("stages"))];
  });
}

/** Variables written as one map. */
function mappedVariables(environment: Fields): (Inline | null)[][] {
  const variables = environment.map("variables");
  return (variables?.keys() ?? []).map((name) => [
    code(name),
    given(variables?.text(name) ?? null, (text) => shownValue(name, text)),
  ]);
}

function listSecrets(environment: Fields): (Inline | null)[][] {
  return environment.entries("secrets", "name").map((secret) => {
    const row = [
      secret.code("name"),
      yesNo(secret.flag("required")),
      listed(secret.codes("stages")),
      join([secret.prose("provider"), secret.code("path")], ", "),
    ];
    // Whatever else is said of a secret may be its value.
    secret.discard();
    return row;
  });
}

/** Secrets written as one map, whose values are left out. */
function mappedSecrets(environment: Fields): (Inline | null)[][] {
  const secrets = environment.peek("secrets");
  if (isRecord(secrets)) environment.skip("secrets");
  return isRecord(secrets) ? Object.keys(secrets).map((name) => [code(scalarText(name) ?? "")]) : [];
}
