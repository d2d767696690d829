/** GET …/versions and …/diff: lists the versions of a definition and compares two versions. */
import { Type } from "@sinclair/typebox";
import { CHANGES } from "../../shared/definitions/diff.ts";
import { digest } from "../../shared/definitions/hash_definition.ts";
import { SIGNIFICANCES } from "../../shared/definitions/significance.ts";
import { withoutVersion } from "../../shared/definitions/translate/markdown_file.ts";
import { isVersion, MAX_VERSION_LENGTH } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { mayCompareContent } from "../../shared/policy.ts";
import { Count, data, each, listOf, Natural, Nullable, oneOf, PAGE, Text } from "../../shared/schemas.ts";
import { CHANGE_TYPES, SUBSCRIPTION_TIERS, type SubscriptionTier } from "../../shared/vocabulary.ts";
import { listMemberships } from "../../sql/accounts/organization_members.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { type DefinitionRow, VERSION_FIELDS } from "../../sql/definitions/fields.ts";
import { listVersionHistory } from "../../sql/definitions/versions.ts";
import { type DefinitionViewer, isMemberOrg } from "../../sql/definitions/visibility.ts";
import { DIFF_FORMATS, type DiffMode } from "../documents/compare_documents.ts";
import { joinJson, jsonText, operation, reply } from "../http/operation.ts";
import { flag, limit, OFFSET, once, word } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { parseLineReadAddress } from "./address.ts";
import { invalidDocument, readerWork } from "./document.ts";
import { findReadTarget, requireLine, requireTwoVersions } from "./find_visible.ts";
import { NameOrId, objectOf, READ } from "./schemas.ts";

const ListedVersion = objectOf(VERSION_FIELDS, { title: "Version" });

export const listVersions = operation(
  {
    ...READ,
    id: "listVersions",
    path: "/api/v1/definitions/{type}/{name}/versions",
    summary: "List the versions of a definition",
    description: "Every version that the caller may see, archived ones too, the highest first.",
    params: NameOrId,
    query: {
      limit: limit({ max: 100, unset: 50 }, "Page size"),
      offset: OFFSET,
    },
    response: {
      200: data(
        { versions: listOf(ListedVersion), total: Count, ...PAGE },
        "One page of versions, highest first",
      ),
    },
  },
  async ({ params, query: page, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseLineReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const { total, versions } = await listVersionHistory(sql, { lineId, viewer: target.viewer, ...page });
    return reply(200, { data: { versions, total, ...page } });
  },
);

const FieldChangeType = oneOf(CHANGES);
const FieldChange = Type.Object(
  {
    path: Text,
    type: FieldChangeType,
    oldValue: Type.Optional(Type.Unknown()),
    newValue: Type.Optional(Type.Unknown()),
  },
  { title: "FieldChange" },
);

export const ClassifiedChange = Type.Object(
  { path: Text, type: FieldChangeType, significance: oneOf(SIGNIFICANCES), reason: Text },
  { title: "ClassifiedChange" },
);

const Version = Type.String({ examples: ["1.0.0"] });
const Hash = Type.String({ examples: [`sha256:${"0".repeat(64)}`] });
const OtherHash = Type.String({ examples: [`sha256:${"1".repeat(64)}`] });

const Diff = Type.Object(
  {
    fromVersion: Version,
    toVersion: Type.String({ examples: ["1.1.0"] }),
    fromHash: Hash,
    toHash: OtherHash,
    hasChanges: Type.Boolean({ description: "True if any section differs", examples: [true] }),
    fromPromptHash: Nullable(OtherHash, {
      description:
        "`sha256:` and the hex digest of `runtimeMd` without the line `version: …` of its front matter; null if there is none",
    }),
    toPromptHash: Nullable(Hash),
    hasPromptChanges: Type.Boolean({ description: "True if the two prompt hashes differ", examples: [true] }),
    fromLineCount: Type.Integer({ minimum: 0, examples: [40] }),
    toLineCount: Type.Integer({ minimum: 0, examples: [44] }),
    sectionsAdded: listOf(Text, { examples: [["agent.output"]] }),
    sectionsRemoved: listOf(Text, { examples: [[]] }),
    sectionsModified: listOf(Text, { examples: [["agent.interface"]] }),
    sectionsUnchanged: listOf(Text, { description: "Empty unless `full=true`", examples: [[]] }),
    fields: Type.Optional(
      listOf(FieldChange, {
        description: "With `format=fields`. Includes unchanged fields if `full=true`",
      }),
    ),
    summary: Type.Optional(Type.Object(each(CHANGES, Natural), { description: "With `format=fields`" })),
    classified: Type.Optional(
      listOf(ClassifiedChange, { description: "With `format=fields`: the significance of each change" }),
    ),
    suggestedBump: Type.Optional(
      oneOf(CHANGE_TYPES, { description: "With `format=fields`: the version part to increase" }),
    ),
    sections: Type.Optional(
      Type.Object(each(CHANGES, listOf(Text)), { description: "With `format=fields`" }),
    ),
    unified: Type.Optional(
      Type.String({
        description: "With `format=unified`: a patch for `git apply`; empty if the documents are equal",
      }),
    ),
    fromYaml: Type.Optional(Type.String({ description: "With `full=true`" })),
    toYaml: Type.Optional(Type.String({ description: "With `full=true`" })),
  },
  { title: "Diff" },
);

function version(description: string, example: string) {
  return {
    required: true as const,
    description,
    example,
    schema: Text,
    read: once((text, addProblem): string => {
      if (text !== null && text.length > MAX_VERSION_LENGTH) {
        addProblem(`must have at most ${MAX_VERSION_LENGTH} characters`);
      } else if (text === null || !isVersion(text)) {
        addProblem("must be MAJOR.MINOR.PATCH, such as 1.0.0");
      }
      return text ?? "";
    }),
  };
}

export const diffVersions = operation(
  {
    ...READ,
    id: "diffVersions",
    path: "/api/v1/definitions/{type}/{name}/diff",
    summary: "Compare two versions of a definition",
    description:
      "Sections are the blocks of the document, two levels deep. They are compared by value: order of keys, comments and " +
      "the version itself do not count. `full=true`, `format=fields` and `format=unified` need a paid subscription of any " +
      "organization of the caller's.",
    params: NameOrId,
    query: {
      from: version("Source version", "1.0.0"),
      to: version("Target version", "1.1.0"),
      format: word(
        DIFF_FORMATS,
        "`sections` lists changed sections, `fields` changed fields, `unified` is a patch",
      ),
      full: flag(false, "Include both documents, and unchanged sections or fields"),
    },
    response: { 200: { json: Diff, description: "The comparison, as a bare object without `data`" } },
    fails: [...READ.fails, "SUBSCRIPTION_REQUIRED", "UNPROCESSABLE_ENTITY"],
  },
  async ({ params, query, caller, request }, { sql, documents }) => {
    const { from: fromVersion, to: toVersion, ...mode } = query;
    const target = await findReadTarget(sql, parseLineReadAddress(params), { caller, request });
    const [from, to] = await requireTwoVersions(sql, target, [fromVersion, toVersion]);
    if (showsContent(mode)) requireAllowed(mayCompareContent(await findViewerTier(sql, target.viewer)));
    const { type, name } = to;
    const texts = { from: from.yaml, to: to.yaml };
    const compared = await readerWork(documents, request).compare({ type, name, mode, ...texts });
    if (!compared.ok) {
      const { version } = compared.invalid === "from" ? from : to;
      const toMessage = (message: string) => TEXTS.UNPROCESSABLE_ENTITY.compared(version, message);
      throw invalidDocument(compared.problems, toMessage);
    }
    const versions = JSON.stringify(presentVersions({ from, to }, mode));
    return reply(200, jsonText(joinJson([versions, compared.json])));
  },
);

/** Returns the version fields of a comparison: numbers, hashes and, with `full`, the YAML texts. */
function presentVersions({ from, to }: { from: DefinitionRow; to: DefinitionRow }, { full }: DiffMode) {
  const fromPromptHash = hashPrompt(from.runtimeMd);
  const toPromptHash = hashPrompt(to.runtimeMd);
  return {
    fromVersion: from.version,
    toVersion: to.version,
    fromHash: from.hash,
    toHash: to.hash,
    fromPromptHash,
    toPromptHash,
    hasPromptChanges: fromPromptHash !== toPromptHash,
    ...(full ? { fromYaml: from.yaml, toYaml: to.yaml } : {}),
  };
}

/** Returns the digest of a rendering without its version line, which would make the digests of any two versions differ. */
function hashPrompt(runtimeMd: string | null): string | null {
  return runtimeMd === null ? null : digest(withoutVersion(runtimeMd));
}

/** Returns true if a response in this mode shows document content, not just the names of changed sections. */
function showsContent({ format, full }: DiffMode): boolean {
  return full || format !== "sections";
}

/** Returns the highest subscription tier of the viewer's organizations; `free` for anonymous callers. */
async function findViewerTier(sql: Sql, viewer: DefinitionViewer): Promise<SubscriptionTier> {
  if (viewer.userId === null) return "free";
  const memberships = await listMemberships(sql, viewer.userId);
  const tiers = memberships.filter((org) => isMemberOrg(viewer, org)).map(({ tier }) => tier);
  return SUBSCRIPTION_TIERS.findLast((tier) => tiers.includes(tier)) ?? "free";
}
