import { expect, test } from "bun:test";
import { list, makeVersion, type VersionColumns } from "../../../helpers/definitions/definition_list.ts";
import { ask } from "../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

type Texts = Omit<VersionColumns, "orgId" | "authorId">;

async function openRegistry(versions: readonly Texts[]) {
  const api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 100_000 } });
  const person = await api.make.person();
  for (const columns of versions) {
    await makeVersion(api.db.sql, { orgId: person.org.id, authorId: person.user.id, ...columns });
  }
  return { api, person, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function found(api: TestApp, search: string, rest = "", key?: string): Promise<string[]> {
  const caller = key === undefined ? null : { key };
  const { definitions } = await list(api, `search=${encodeURIComponent(search)}${rest}`, caller);
  return definitions.map(({ name }) => name);
}

const SHELF: readonly Texts[] = [
  { name: "code-reviewer", displayName: "Code Reviewer", description: "Reads a change before it is merged." },
  { name: "gatekeeper", displayName: "Review gate", description: "Stops what is not ready." },
  { name: "nightly", displayName: "Nightly", description: "Collects the reviews of the day, and the code." },
  {
    name: "tax-advisor",
    displayName: "Tax advisor",
    description: "Answers questions about taxes; 42 forms.",
  },
  { name: "who-am-i", displayName: "Who am I", description: "Überprüft, wer fragt: 検索 ☃" },
];

test("searches match word stems in names, display names and descriptions, ranked in this order", async () => {
  await using registry = await openRegistry(SHELF);
  const { api } = registry;
  const cases: readonly [string, string[]][] = [
    ["reviewing", ["code-reviewer", "gatekeeper", "nightly"]],
    ["reviewer", ["code-reviewer", "gatekeeper", "nightly"]],
    ["gates", ["gatekeeper"]],
    ["merging", ["code-reviewer"]],
    ["taxes", ["tax-advisor"]],
    ["QUESTION", ["tax-advisor"]],
    ["42", ["tax-advisor"]],
    ["review code", ["code-reviewer", "nightly"]],
    ["code, review!", ["code-reviewer", "nightly"]],
    ["the review of the code", ["code-reviewer", "nightly"]],
    ["überprüft", ["who-am-i"]],
    ["検索", ["who-am-i"]],
    ["☃", ["who-am-i"]],
    ["who", ["who-am-i"]],
    ["review taxes", []],
    ["unheard", []],
  ];
  for (const [search, names] of cases) expect([search, await found(api, search)]).toEqual([search, names]);
});

test("a name is found with its organization, with its version and without its hyphens", async () => {
  await using registry = await openRegistry(SHELF);
  const { api, person } = registry;
  const other = await api.make.person();
  const texts = { name: "code-reviewer", displayName: "Another", description: "codereviewer" };
  await makeVersion(api.db.sql, { orgId: other.org.id, authorId: other.user.id, ...texts });
  const { slug } = person.org;
  const one = ["code-reviewer"];
  const both = ["code-reviewer", "code-reviewer"];
  const cases: readonly [string, string[]][] = [
    [`@${slug}/code-reviewer`, one],
    [`${slug}/Code-Reviewer`, one],
    [` @${other.org.slug}/code-reviewer@1.0.0 `, one],
    ["code-reviewer@1.0.0", both],
    ["code-reviewer@^1.2.0", both],
    ["code-reviewer@latest", both],
    ["codereviewer", both],
    [`@${slug}/codereviewer`, one],
    ["whoami", ["who-am-i"]],
    [`@${other.org.slug}`, one],
    [`@${other.org.slug}/gatekeeper`, []],
    ["@nobody/code-reviewer", []],
  ];
  for (const [search, names] of cases) {
    // The exact name comes first. Other names with the same words may follow.
    const best = (await found(api, search)).slice(0, Math.max(1, names.length));
    expect([search, best]).toEqual([search, names]);
  }
  // The first word is not an organization's slug, so both words are searched.
  expect(await found(api, "review/code")).toEqual(await found(api, "review code"));
  // A filter by organization is an additional condition.
  const ofOther = `&organization=${other.org.slug}`;
  expect(await found(api, `@${other.org.slug}/code-reviewer`, ofOther)).toEqual(one);
  expect(await found(api, `@${slug}/code-reviewer`, ofOther)).toEqual([]);
  // Slugs may contain dots and underscores. Names may not.
  await api.db.sql`update organizations set slug = 'john.doe_1' where id = ${other.org.id}`;
  for (const search of ["@john.doe_1/code-reviewer@1.0.0", "john.doe_1/code-reviewer", "@john.doe_1"])
    expect([search, await found(api, search)]).toEqual([search, one]);
});

test("other organizations' private names do not affect search results, however those names are hyphenated", async () => {
  const [older, newer] = ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"];
  await using registry = await openRegistry([
    { name: "reviewer", createdAt: older },
    { name: "code-reviewer", createdAt: older },
    { name: "digest", description: "For every reviewer and codereviewer", createdAt: newer },
  ]);
  const { api } = registry;
  const before = {
    reviewer: ["reviewer", "code-reviewer", "digest"],
    codereviewer: ["code-reviewer", "digest"],
  };
  const stranger = await api.make.person();
  const own = { orgId: stranger.org.id, authorId: stranger.user.id, visibility: "private" } as const;
  const hidden = [
    "re-viewer",
    ...Array.from(
      { length: 11 },
      (_, n) => `${"codereviewer".slice(0, n + 1)}-${"codereviewer".slice(n + 1)}`,
    ),
  ];
  const twice = hidden.slice(1, 10).map((name) => name.replace(/r$/, "-r"));
  for (const name of [...hidden, ...twice].filter((name) => name !== "code-reviewer")) {
    await makeVersion(api.db.sql, { ...own, name, createdAt: "2026-01-01T00:00:00Z" });
  }
  for (const [search, names] of Object.entries(before)) expect(await found(api, search)).toEqual(names);
  const seen = await found(api, "reviewer", "", stranger.key);
  expect(seen.slice(0, 2)).toEqual(["reviewer", "re-viewer"]);
  // A public definition with a differently hyphenated name is found, and displaces no other match.
  await makeVersion(api.db.sql, { ...own, name: "revi-ewer", visibility: "public" });
  expect(await found(api, "reviewer")).toEqual(["reviewer", "revi-ewer", "code-reviewer", "digest"]);
});

test("every word of a description of maximum length is found", async () => {
  // 800 words of four letters, separated by spaces, have 3,999 characters.
  const words = Array.from(
    { length: 800 },
    (_, n) =>
      `z${n
        .toString(26)
        .padStart(3, "q")
        .replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "")}`,
  );
  await using registry = await openRegistry([{ name: "long", description: words.join(" ") }]);
  for (const word of [words[0], words[400], words[799]]) {
    expect([word, await found(registry.api, word ?? "")]).toEqual([word, ["long"]]);
  }
});

test("words are found by their prefixes", async () => {
  await using registry = await openRegistry(SHELF);
  const { api } = registry;
  expect(await found(api, "gate")).toEqual(["gatekeeper"]);
  expect(await found(api, "night")).toEqual(["nightly"]);
  expect(await found(api, "coll")).toEqual(["nightly"]);
  expect(await found(api, "ad")).toEqual(["tax-advisor"]);
  expect((await found(api, "c")).toSorted()).toEqual(["code-reviewer", "nightly"]);
  expect(await found(api, "cod rev")).toEqual(expect.arrayContaining(["code-reviewer", "nightly"]));
});

test("a search matches any part of a name or display name if the part has at least three letters", async () => {
  await using registry = await openRegistry([
    { name: "code-reviewer", displayName: "Quality Gate" },
    { name: "other", description: "A reviewer of quality" },
    { name: "long-name", displayName: `x${"abcdefghij".repeat(15)}` },
    { name: "kana", displayName: "コードレビュー担当" },
  ]);
  const { api } = registry;
  const cases: readonly [string, string[]][] = [
    ["view", ["code-reviewer"]],
    ["VIEWER", ["code-reviewer"]],
    ["ewe", ["code-reviewer"]],
    ["ew", []],
    ["ode-rev", ["code-reviewer"]],
    ["de-re", ["code-reviewer"]],
    ["de rev", ["code-reviewer"]],
    ["de-reviewer", ["code-reviewer"]],
    ["de-ga", []],
    ["ality", ["code-reviewer"]],
    ["ty ga", ["code-reviewer"]],
    ["ality view", ["code-reviewer"]],
    ["jabcdefghijabc", ["long-name"]],
    ["レビュー", ["kana"]],
  ];
  for (const [search, names] of cases) expect([search, await found(api, search)]).toEqual([search, names]);
});

test("stop words in names are found, whether alone or in part of a name", async () => {
  await using registry = await openRegistry([
    { name: "state-of-things", displayName: "Where we are" },
    { name: "this-and-that", displayName: "Both" },
    { name: "unrelated", displayName: "Quiet", description: "State of the art, one by one, and more" },
  ]);
  const { api } = registry;
  const cases: readonly [string, string[]][] = [
    ["of", ["state-of-things"]],
    ["and", ["this-and-that"]],
    ["that", ["this-and-that"]],
    ["this and that", ["this-and-that"]],
    ["where we are", ["state-of-things"]],
    ["e-of", ["state-of-things"]],
    ["te-of-th", ["state-of-things"]],
    ["d-that", ["this-and-that"]],
    ["re we a", ["state-of-things"]],
    ["ate-of-thi", ["state-of-things"]],
    // "once" is not corrected to "one".
    ["once", []],
  ];
  for (const [search, names] of cases) expect([search, await found(api, search)]).toEqual([search, names]);
});

test("names rank before descriptions, for whole words and prefixes of any length", async () => {
  await using registry = await openRegistry([
    { name: "security-audit", displayName: "Looks at things", createdAt: "2020-01-01T00:00:00.000Z" },
    { name: "looker", displayName: "Security of secrets", createdAt: "2021-01-01T00:00:00.000Z" },
    { name: "timer", description: "Waits for a sec." },
    { name: "other", description: "Looks after the security of things." },
    { name: "unlike", description: "Nothing of that kind" },
  ]);
  const { api } = registry;
  for (const search of ["s", "se", "sec", "secu", "securi"]) {
    const names = await found(api, search);
    expect([search, names.slice(0, 2)]).toEqual([search, ["security-audit", "looker"]]);
    expect(names).not.toContain("unlike");
  }
  expect(await found(api, "sec")).toEqual(["security-audit", "looker", "timer", "other"]);
  expect(await found(api, "securi", "&limit=2&offset=1")).toEqual(["looker", "other"]);
  expect(await found(api, "secu", "&sortBy=createdAt")).toEqual(["other", "looker", "security-audit"]);
});

test("an exact name match ranks first, regardless of case, spacing and punctuation", async () => {
  await using registry = await openRegistry([
    { name: "review", createdAt: "2020-01-01T00:00:00.000Z" },
    { name: "review-gate", displayName: "Review review review" },
    { name: "security-review" },
    { name: "review-gate-two" },
  ]);
  const { api } = registry;
  expect((await found(api, "review"))[0]).toBe("review");
  for (const search of ["review-gate", "Review Gate", "review_gate", "  REVIEW   gate!", "(review/gate)"]) {
    expect((await found(api, search))[0]).toBe("review-gate");
  }
  expect(await found(api, "review", "&sortBy=name&sortOrder=asc")).toEqual([
    "review",
    "review-gate",
    "review-gate-two",
    "security-review",
  ]);
  expect(await found(api, "review", "&limit=1&offset=3")).toHaveLength(1);
});

test("small misspellings are corrected, but known words are not changed", async () => {
  await using registry = await openRegistry(SHELF);
  const { api } = registry;
  const cases: readonly [string, string[]][] = [
    ["reveiw", ["code-reviewer", "gatekeeper", "nightly"]],
    ["revew", ["code-reviewer", "gatekeeper", "nightly"]],
    ["gatekeper", ["gatekeeper"]],
    ["nigthly", ["nightly"]],
    ["adviser", ["tax-advisor"]],
    ["questons taxes", ["tax-advisor"]],
    ["txa", []],
    ["revxyw", []],
  ];
  for (const [search, names] of cases) expect([search, await found(api, search)]).toEqual([search, names]);
  expect(await found(api, "reviewe gatekeper nigthly")).toEqual([]);
  expect(await found(api, "gatekeper reviwe")).toEqual(["gatekeeper"]);
  // The filter excludes the only match, but "taxes" is a known word, so it is not corrected.
  expect(await found(api, "taxes", "&domain=legal")).toEqual([]);
});

test("hidden definitions do not affect corrections", async () => {
  await using registry = await openRegistry([
    { name: "gatekeeper" },
    { name: "secret", visibility: "private", description: "The gatekeper project" },
  ]);
  const { api, person } = registry;
  expect(await found(api, "gatekeper")).toEqual(["gatekeeper"]);
  expect(await found(api, "gatekeper", "", person.key)).toEqual(["secret"]);
});

test("hostile input is treated as text", async () => {
  await using registry = await openRegistry(SHELF);
  const { api } = registry;
  const everything = SHELF.length;
  const hostile: readonly [string, number][] = [
    ["'; drop table definitions; --", 0],
    ['"code"', 2],
    ["code & !review | (gate:*)", 0],
    ["code:* <-> review", 2],
    ["%", 0],
    ["_", 0],
    ["co%er", 0],
    ["\\", 0],
    ["!!! ... ---", 0],
    ["😀", 0],
    ["   ", everything],
    ["", everything],
    ["x".repeat(500), 0],
    ["code ".repeat(100), 2],
    [Array.from({ length: 100 }, (_, number) => `w${number}`).join(" "), 0],
    ["$1 #{x} {{x}} ../../etc", 0],
    ["'':* | 'code'", 2],
    ["\\'code\\':*", 2],
    [
      Array.from({ length: 60 }, (_, number) => `reveiw${String.fromCharCode(97 + (number % 26))}`).join(" "),
      0,
    ],
    ["ab".repeat(12), 0],
  ];
  for (const [search, total] of hostile) {
    const response = await ask(api, `?search=${encodeURIComponent(search)}`, null);
    expect([search, response.status]).toEqual([search, 200]);
    const { data } = (await response.json()) as { data: { total: number } };
    expect([search, data.total]).toEqual([search, total]);
  }
});
