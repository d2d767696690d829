/** `definition quarantine` and `definition release`: quarantine a definition or a version, and end the quarantine. */
import { isDefinitionName } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/version_numbers.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { findLineId } from "../../sql/definitions/definition_lines.ts";
import { lockLineQuarantine, updateQuarantine } from "../../sql/definitions/quarantine.ts";
import { listVersionNumbers } from "../../sql/definitions/versions.ts";
import {
  AdminError,
  type CommandResult,
  checkFlags,
  defineCommand,
  reasonProblem,
  UsageError,
} from "./command/command.ts";
import { fields } from "./command/format_output.ts";
import { requireOrgId } from "./command/lookups.ts";

const TYPE = { words: DEFINITION_TYPES, required: true, about: "type of the definition" } as const;
const NAME = {
  placeholder: "@ORG/NAME[@VERSION]",
  required: true,
  about: "the definition, or one version of it",
} as const;

export const DEFINITION_COMMANDS = [
  defineCommand({
    name: "definition quarantine",
    about:
      "Quarantines a definition or a version: only members of its organization see it, and nothing resolves to it.",
    flags: {
      type: TYPE,
      name: NAME,
      reason: {
        placeholder: "TEXT",
        required: true,
        about: "reason, shown to the members of its organization",
      },
    },
    async run({ sql }, { type, name, reason }) {
      checkFlags({ reason: reasonProblem(reason) });
      return changeQuarantine(sql, parseName(type, name), reason);
    },
  }),
  defineCommand({
    name: "definition release",
    about: "Releases a quarantined definition with all its versions, or one quarantined version.",
    flags: { type: TYPE, name: NAME },
    run: async ({ sql }, { type, name }) => changeQuarantine(sql, parseName(type, name), null),
  }),
];

interface NamedDefinition {
  type: DefinitionType;
  orgSlug: string;
  name: string;
  version: string | null;
  /** The value of `--name` as typed. */
  text: string;
}

function parseName(type: DefinitionType, text: string): NamedDefinition {
  const [, orgSlug = "", name = "", version = null] = /^@([^/]*)\/([^@]*)(?:@(.*))?$/.exec(text) ?? [];
  const isValid =
    isAccountSlug(orgSlug) && isDefinitionName(name) && (version === null || isVersion(version));
  if (isValid) return { type, orgSlug, name, version, text };
  throw new UsageError("--name must be @org/name or @org/name@1.0.0");
}

/** Quarantines the named definition or version, or releases it if `reason` is null. */
async function changeQuarantine(
  sql: Pool,
  named: NamedDefinition,
  reason: string | null,
): Promise<CommandResult> {
  const { type, orgSlug, name, version, text } = named;
  const { quarantinedAt, versions } = await sql.begin(async (tx) => {
    const orgId = await requireOrgId(tx, orgSlug);
    const lineId = await requireLine(tx, orgId, named);
    const isLineQuarantined = (await lockLineQuarantine(tx, lineId)) !== null;
    if (reason === null && isLineQuarantined && version !== null) {
      throw new AdminError(
        `Cannot release ${type} "${text}" alone: the whole definition is quarantined. Release it without a version.`,
      );
    }
    const change = await updateQuarantine(tx, { lineId, version, reason });
    if (!change) {
      throw new AdminError(
        reason === null
          ? `Cannot release ${type} "${text}": it is not quarantined`
          : `Cannot quarantine ${type} "${text}": it is already quarantined`,
      );
    }
    await insertAuditEntry(tx, {
      actorType: "operator",
      action: reason === null ? "definition.release" : "definition.quarantine",
      subject: { type: version === null ? "definition_line" : "definition", id: change.id },
      orgId,
      details: { type, name, version, versions: change.versions, ...(reason === null ? {} : { reason }) },
    });
    return change;
  });
  return {
    json: { type, name: `@${orgSlug}/${name}`, version, quarantinedAt, quarantineReason: reason, versions },
    text: fields({
      Definition: `${type} ${text}`,
      Quarantined: quarantinedAt ?? "no",
      Reason: reason,
      "Versions changed": versions,
    }),
  };
}

/** Returns the id of the definition line. Throws AdminError if the line or the named version does not exist. */
async function requireLine(
  tx: Sql,
  orgId: string,
  { type, name, version, text }: NamedDefinition,
): Promise<string> {
  const lineId = await findLineId(tx, { orgId, type, name });
  const isThere =
    lineId !== null && (version === null || (await listVersionNumbers(tx, lineId)).includes(version));
  if (isThere) return lineId;
  throw new AdminError(`Definition ${type} "${text}" not found`, "NOT_FOUND");
}
