/** What the updates of public profiles share, of users and organizations: fields of the body, and their check. */
import { t } from "elysia";
import { invalidInput, type Problem } from "../http/validation_problems.ts";

const nullable = (description: string) =>
  t.Union([t.String(), t.Null()], { description: `${description}; null unsets it` });

const NAME = "At most 200 characters";

/** An organization always has a name. */
export const NameField = t.String({ description: NAME });
export const NullableNameField = nullable(NAME);
export const AboutField = nullable("At most 2,000 characters");
export const WebsiteField = nullable("An http or https URL");

/** Throws VALIDATION_ERROR with every field whose rule finds a problem. Null and omitted fields are valid. */
export function checkProfileUpdate(
  body: Readonly<Record<string, string | null | undefined>>,
  rules: Readonly<Record<string, (text: string) => string | null>>,
): void {
  const problems: Problem[] = [];
  for (const [path, problemOf] of Object.entries(rules)) {
    const value = body[path];
    const message = typeof value === "string" ? problemOf(value) : null;
    if (message) problems.push({ path, message });
  }
  if (problems.length > 0) throw invalidInput(problems);
}
