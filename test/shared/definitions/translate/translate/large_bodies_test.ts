import { expect, test } from "bun:test";
import { translateBody } from "../../../../helpers/definitions/translation.ts";
import { LARGE_BODIES } from "../../../../helpers/http/large_bodies.ts";

/**
 * The maximum ratio of the rendered bytes to the document's bytes. Escapes double a text, and list items get their own lines.
 */
const MOST_GROWTH = 8;

test.each(LARGE_BODIES)("40 KB of %s are rendered as a text that is not much larger", (_, type, body) => {
  const bytes = JSON.stringify(body).length;
  expect(bytes).toBeGreaterThan(36_000);
  const translation = translateBody(type, body);
  if (!translation.ok) throw new Error(JSON.stringify(translation));
  expect(translation.runtimeMd.length).toBeLessThan(MOST_GROWTH * bytes);
});
