/** Parses definition addresses in paths: `name` or `@org/name`, with or without `@version`, or a version id. */
import { type DefinitionName, isDefinitionName, NAME_RULE } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/version_numbers.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { isUuid } from "../../shared/uuid.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { invalidField } from "../http/validation_problems.ts";

export interface DefinitionAddress extends DefinitionName {
  /** The slug of the organization in the path; `null` for a bare name. */
  orgSlug: string | null;
  version: string | null;
}

export interface VersionAddress extends DefinitionAddress {
  version: string;
}

export interface VersionId {
  type: DefinitionType;
  id: string;
}

/** Parses the address of a read request. Throws VALIDATION_ERROR. */
export function parseReadAddress(params: DefinitionName): DefinitionAddress | VersionId {
  return isUuid(params.name) ? { type: params.type, id: params.name.toLowerCase() } : parseAddress(params);
}

/** Parses the address of a read that covers all versions of a definition: its name, or the id of any version. */
export function parseLineReadAddress(params: DefinitionName): DefinitionAddress | VersionId {
  return isUuid(params.name) ? parseReadAddress(params) : parseLineAddress(params);
}

/** Parses an address that must be a name, not an id. Throws VALIDATION_ERROR. */
export function parseAddress({ type, name: text }: DefinitionName): DefinitionAddress {
  const { orgSlug, name, version } = splitAddress(text);
  if (orgSlug !== null && !isAccountSlug(orgSlug)) {
    throw invalidField("name", "must have an organization's slug between @ and /");
  }
  if (isUuid(name)) throw invalidField("name", "must be a name here, such as reviewer@1.0.0, not an id");
  if (!isDefinitionName(name)) throw invalidField("name", NAME_RULE);
  if (version !== null && !isVersion(version)) {
    throw invalidField("name", "must end in @MAJOR.MINOR.PATCH, such as @1.0.0");
  }
  return { type, orgSlug, name, version };
}

/** Parses the address of one version, as most writes need. Throws VALIDATION_ERROR if the version is missing. */
export function parseVersionAddress(params: DefinitionName): VersionAddress {
  const { version, ...address } = parseAddress(params);
  if (version !== null) return { ...address, version };
  throw invalidField("name", `must have a version, such as ${params.name}@1.0.0`);
}

/** Parses an address without a version. Throws VALIDATION_ERROR if a version is given. */
export function parseLineAddress(params: DefinitionName): DefinitionAddress {
  const address = parseAddress(params);
  if (address.version === null) return address;
  throw invalidField("name", "must not have a version");
}

/** Splits `@org/name@version` without validating the parts. The name is empty if the text has another form. */
export function splitAddress(text: string): Omit<DefinitionAddress, "type"> {
  const [, orgSlug = null, name = "", version = null] =
    /^(?:@([^/]*)\/)?([^@/]*)(?:@(.*))?$/s.exec(text) ?? [];
  return { orgSlug, name, version };
}
