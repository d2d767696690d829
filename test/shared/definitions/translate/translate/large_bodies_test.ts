import { expect, test } from "bun:test";
import { translateBody } from "../../../../helpers/definitions/translation.ts";
import { LARGE_BODIES } from "../../../../helpers/http/large_bodies.ts";

/** The maximum bytes of rendered text per byte of the document: escapes double text, and list items get their own lines. */
const MOST_GROWTH = 8;

test.each(LARGE_BODIES)("40 KB of %s are rendered, as a text not much larger", (_, type, body) => {
  const bytes = JSON.stringify(body).length;
  expect(bytes).toBeGreaterThan(36_000);
  const translation = translateBody(type, body);
  if (!translation.ok) throw new Error(JSON.stringify(translation));
  expect(translation.runtimeMd.length).toBeLessThan(MOST_GROWTH * bytes);
});
