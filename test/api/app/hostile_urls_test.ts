/** Tests URLs of maximum length on every route. The size of an error response is bounded, however long the URL is. */
import { afterAll, expect, spyOn, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";

/** The length of the tested URLs. Bun refuses requests whose request line and headers exceed 16 KiB. */
const URL_MAX_CHARS = 15_000;
/** The maximum length of the JSON that a refusal writes. A response lists up to 50 problems. */
const WRITTEN_MAX_CHARS = 4 * URL_MAX_CHARS;

const stringify = spyOn(JSON, "stringify");
afterAll(() => void stringify.mockRestore());

/** Query strings with one long parameter, many short ones, a repeated one, and long names. */
const QUERIES = [
  `search=${"a".repeat(URL_MAX_CHARS)}`,
  Array.from({ length: URL_MAX_CHARS / 6 }, (_, index) => `${index.toString(36)}=`).join("&"),
  "limit=1&".repeat(URL_MAX_CHARS / 8),
  `${"k".repeat(URL_MAX_CHARS / 2)}=1&${"l".repeat(URL_MAX_CHARS / 2)}=1`,
];

test("no route fails or returns a long error for a URL of maximum length", async () => {
  await using api = await openTestApp({
    config: { rateLimitUserPerMinute: 100_000, rateLimitAnonymousPerMinute: 100_000 },
  });
  const { user } = await api.make.person();
  for (const { method, pattern: path } of api.app.routes) {
    const { token } = await api.make.session({ userId: user.id });
    const parameters = path.match(/:\w+|\*/g)?.length ?? 0;
    const long = "a".repeat(Math.floor(URL_MAX_CHARS / Math.max(1, parameters)));
    const paths = [
      path.replaceAll(/:\w+|\*/g, long),
      ...QUERIES.map((query) => `${path.replaceAll(/:\w+|\*/g, "x")}?${query}`),
    ];
    for (const target of paths) {
      stringify.mockClear();
      const headers = { authorization: `Bearer ${token}` };
      const response = await api.app.handle(
        new Request(`http://localhost${target}`, { method, headers }),
        "192.0.2.1",
      );
      const text = await response.text();
      expect([path, response.status < 500]).toEqual([path, true]);
      if (response.status < 400) continue;
      expect(text.length).toBeLessThan(WRITTEN_MAX_CHARS);
      const written = stringify.mock.results.map(({ value }) => String(value).length);
      expect(Math.max(0, ...written)).toBeLessThan(WRITTEN_MAX_CHARS);
    }
  }
});
