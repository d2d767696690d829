import { expect, test } from "bun:test";
import { chooseFamilyModel, readId } from "../../catalog-sync/choose_family_model.ts";
import { mapCatalog } from "../../catalog-sync/map_catalog.ts";
import { readDocument } from "../../catalog-sync/source_document.ts";
import { type DocumentRow, makeDocument } from "../helpers/models/catalog.ts";

const TODAY = "2026-07-01";

/** Returns the model id that the name resolves to, among models with these release dates or fields. */
function choose(name: string, rows: Readonly<Record<string, string | DocumentRow>>): string | undefined {
  const fields = Object.entries(rows).map(([id, row]) => [
    id,
    typeof row === "string" ? { release_date: row } : row,
  ]);
  const read = readDocument(makeDocument({ acme: Object.fromEntries(fields) }));
  if (!read.ok) throw new Error(read.reason);
  return chooseFamilyModel([name], mapCatalog(read.document).models, TODAY)?.modelId;
}

for (const [what, name, rows, expected] of [
  [
    "an id that ends with latest takes precedence",
    "mistral-large",
    {
      "mistral-large-2411": "2024-11-18",
      "mistral-large-2512": "2024-11-01",
      "mistral-large-latest": "2024-11-01",
    },
    "mistral-large-latest",
  ],
  [
    "the later of the release date and the date in the id counts",
    "mistral-large",
    { "mistral-large-2411": "2024-11-18", "mistral-large-2512": "2024-11-01" },
    "mistral-large-2512",
  ],
  [
    "a newer variant does not replace the plain model",
    "claude-opus",
    {
      "claude-opus-4-8": "2026-05-28",
      "claude-opus-4-8-fast": "2026-05-29",
      "claude-opus-4-7": "2026-04-16",
    },
    "claude-opus-4-8",
  ],
  [
    "a newer mini does not replace the plain model",
    "gpt",
    { "gpt-5": "2025-08-07", "gpt-5-mini": "2025-08-08" },
    "gpt-5",
  ],
  [
    "in a family of mini models, a mini is a plain model",
    "gpt-mini",
    { "gpt-5-mini": "2025-08-07", "gpt-5-mini-audio": "2026-01-01" },
    "gpt-5-mini",
  ],
  [
    "a model named for a language, a size or vision is a variant",
    "command-r",
    {
      "command-r-08-2024": "2024-08-30",
      "command-r7b-arabic-02-2025": "2025-02-27",
      "command-r7b-12-2024": "2024-12-02",
      "command-r-vision": "2025-03-01",
    },
    "command-r-08-2024",
  ],
  [
    "a model with output other than text is a variant",
    "grok",
    {
      "grok-4.3": "2026-04-17",
      "grok-5": { release_date: "2026-05-01", modalities: { input: ["text"], output: ["image"] } },
    },
    "grok-4.3",
  ],
  [
    "a model with a future release date is excluded",
    "gpt",
    { "gpt-5": "2025-08-07", "gpt-6": "2026-07-02" },
    "gpt-5",
  ],
  [
    "a future date in an id is ignored",
    "glm",
    { "glm-5-2612": "2026-01-01", "glm-5": "2026-02-01" },
    "glm-5",
  ],
  [
    "a newer generation takes precedence over a later date",
    "nova",
    { "amazon.nova-v1:0": "2024-12-03", "amazon.nova-2-v1:0": "2024-12-01" },
    "amazon.nova-2-v1:0",
  ],
  [
    "4.20 is older than 4.3, because it was released earlier",
    "grok",
    { "grok-4.20": "2026-03-09", "grok-4.3": "2026-04-17" },
    "grok-4.3",
  ],
  [
    "if the dates are equal, the higher version is chosen",
    "glm",
    { "glm-4.10": "2026-01-01", "glm-4.9": "2026-01-01" },
    "glm-4.10",
  ],
  [
    "if all models are variants, the largest of the newest generation is chosen",
    "gemma",
    {
      "gemma-3-27b-it": "2025-03-12",
      "gemma-3-4b-it": "2025-03-13",
      "gemma-2-70b-it": "2025-06-01",
      "gemma-3n-e2b-it": "2025-07-09",
    },
    "gemma-3-27b-it",
  ],
  [
    "the number of active parameters is not a size",
    "gemma",
    { "gemma-4-26b-a40b": "2026-01-01", "gemma-4-31b": "2026-01-01" },
    "gemma-4-31b",
  ],
  [
    "the number of experts multiplies the size",
    "mixtral",
    { "open-mixtral-8x22b": "2024-01-01", "open-mixtral-100b": "2024-01-01" },
    "open-mixtral-8x22b",
  ],
  [
    "if nothing else decides, the shorter id is chosen, because dated snapshots have longer ids",
    "claude-sonnet",
    { "claude-sonnet-4-5-20250929": "2025-09-29", "claude-sonnet-4-5": "2025-09-29" },
    "claude-sonnet-4-5",
  ],
  [
    "deprecated models and previews are excluded",
    "claude-opus",
    {
      "claude-opus-latest": { status: "deprecated" },
      "claude-opus-5-preview": "2026-06-01",
      "claude-opus-4": "2025-01-01",
    },
    "claude-opus-4",
  ],
  [
    "if no model is available, none is chosen",
    "devstral",
    { "devstral-latest": { status: "deprecated" } },
    undefined,
  ],
] as const) {
  test(`chooseFamilyModel(): ${what}`, () => expect(choose(name, rows)).toBe(expected));
}

for (const [id, names, parts] of [
  ["claude-opus-4-5-20251101", ["claude-opus"], { numbers: [4, 5], date: "2025-11-01" }],
  ["qwen3.7-max", ["qwen"], { numbers: [3, 7], words: ["max"] }],
  ["command-a-03-2025", ["command-a"], { date: "2025-03-01" }],
  ["kimi-k2-0905", ["kimi"], { numbers: [2] }],
  ["o4-mini", ["o-mini"], { numbers: [4] }],
  [
    "llama-4-maverick-17b-128e-instruct-fp8",
    ["llama"],
    { numbers: [4], size: 17 * 128, words: ["maverick", "fp8"] },
  ],
  ["nvidia/nemotron-3-ultra-550b-a55b", ["nemotron"], { numbers: [3], size: 550, words: ["ultra"] }],
] as const) {
  test(`readId() splits ${id} into its parts`, () =>
    expect(readId(id, names)).toMatchObject(
      Object.assign({ numbers: [], date: "", size: 0, words: [] }, parts) as object,
    ));
}
