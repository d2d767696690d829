import { expect, test } from "bun:test";
import { translateBody } from "../../../../helpers/definitions/translation.ts";
import { LARGE_BODIES } from "../../../../helpers/http/large_bodies.ts";

/** The maximum ratio of the rendered length to the length of the JSON. Escapes and line breaks make the text longer. */
const MOST_GROWTH = 8;

test.each(LARGE_BODIES)("the rendering of 40 KB of %s is less than eight times as large", (_, type, body) => {
  const bytes = JSON.stringify(body).length;
  expect(bytes).toBeGreaterThan(36_000);
  const translation = translateBody(type, body);
  if (!translation.ok) throw new Error(JSON.stringify(translation));
  expect(translation.runtimeMd.length).toBeLessThan(MOST_GROWTH * bytes);
});
