/** `definition quarantine` and `definition release`: removes a definition from the registry, and restores it. */
import { isDefinitionName } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/versions.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { findLineId } from "../../sql/definitions/lines.ts";
import {
  lockLineQuarantine,
  type QuarantineChange,
  type QuarantineTarget,
  updateQuarantine,
} from "../../sql/definitions/quarantine.ts";
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
      const named = parseName(type, name);
      const change = await changeQuarantine(sql, named, {
        action: "definition.quarantine",
        details: { reason },
        apply: (tx, target) => updateQuarantine(tx, { ...target, reason }),
        problem: `Cannot quarantine ${type} "${name}": it is already quarantined`,
      });
      return present(named, { ...change, reason });
    },
  }),
  defineCommand({
    name: "definition release",
    about: "Releases a quarantined definition with all its versions, or one quarantined version.",
    flags: { type: TYPE, name: NAME },
    async run({ sql }, { type, name }) {
      const named = parseName(type, name);
      const change = await changeQuarantine(sql, named, {
        action: "definition.release",
        details: {},
        apply: async (tx, target, since) => {
          if (since !== null && target.version !== null) {
            throw new AdminError(
              `Cannot release ${type} "${name}" alone: the whole definition is quarantined. Release it without a version.`,
            );
          }
          return updateQuarantine(tx, { ...target, reason: null });
        },
        problem: `Cannot release ${type} "${name}": it is not quarantined`,
      });
      return present(named, { ...change, reason: null });
    },
  }),
];

interface NamedDefinition {
  type: DefinitionType;
  orgSlug: string;
  name: string;
  version: string | null;
  /** The name as it was given. */
  text: string;
}

function parseName(type: DefinitionType, text: string): NamedDefinition {
  const [, orgSlug = "", name = "", version = null] = /^@([^/]*)\/([^@]*)(?:@(.*))?$/.exec(text) ?? [];
  const isValid =
    isAccountSlug(orgSlug) && isDefinitionName(name) && (version === null || isVersion(version));
  if (isValid) return { type, orgSlug, name, version, text };
  throw new UsageError("--name must be @org/name or @org/name@1.0.0");
}

async function changeQuarantine(
  sql: Pool,
  named: NamedDefinition,
  options: {
    action: string;
    details: Readonly<Record<string, string>>;
    /** `since` is the time when the whole line was quarantined; null if it is not. */
    apply: (tx: Sql, target: QuarantineTarget, since: string | null) => Promise<QuarantineChange | null>;
    problem: string;
  },
): Promise<QuarantineChange> {
  const { type, name, version, text } = named;
  return sql.begin(async (tx) => {
    const orgId = await requireOrgId(tx, named.orgSlug);
    const lineId = await findLineId(tx, { orgId, type, name });
    const isThere =
      lineId !== null && (version === null || (await listVersionNumbers(tx, lineId)).includes(version));
    if (!isThere) throw new AdminError(`Definition ${type} "${text}" not found`, "NOT_FOUND");
    const since = await lockLineQuarantine(tx, lineId);
    const change = await options.apply(tx, { lineId, version }, since);
    if (!change) throw new AdminError(options.problem);
    await insertAuditEntry(tx, {
      actorType: "operator",
      action: options.action,
      subject: { type: version === null ? "definition_line" : "definition", id: change.id },
      orgId,
      details: { type, name, version, versions: change.versions, ...options.details },
    });
    return change;
  });
}

function present(
  { type, orgSlug, name, version }: NamedDefinition,
  { quarantinedAt, reason, versions }: QuarantineChange & { reason: string | null },
): CommandResult {
  return {
    json: { type, name: `@${orgSlug}/${name}`, version, quarantinedAt, quarantineReason: reason, versions },
    text: fields([
      ["Definition", `${type} @${orgSlug}/${name}${version === null ? "" : `@${version}`}`],
      ["Quarantined", quarantinedAt ?? "no"],
      ...(reason === null ? [] : [["Reason", reason] as const]),
      ["Versions changed", versions],
    ]),
  };
}
