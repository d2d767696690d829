/** Addresses of definitions in paths: `name`, `@org/name`, both with or without `@version`, or the id of a version. */
import { type DefinitionName, isDefinitionName, NAME_RULE } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/version_numbers.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { isUuid } from "../../shared/uuid.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { invalidField } from "../http/validation_problems.ts";

export interface DefinitionAddress extends DefinitionName {
  /** The organization that the path names; `null` for a bare name. */
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

/** Reads the address of a read. Throws VALIDATION_ERROR. */
export function parseReadAddress(params: DefinitionName): DefinitionAddress | VersionId {
  return isUuid(params.name) ? { type: params.type, id: params.name.toLowerCase() } : parseAddress(params);
}

/** Reads the address of a read that concerns all versions of a definition: its name, or any version's id. */
export function parseLineReadAddress(params: DefinitionName): DefinitionAddress | VersionId {
  return isUuid(params.name) ? parseReadAddress(params) : parseLineAddress(params);
}

/** Reads an address that is a name. Throws VALIDATION_ERROR. */
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

/** Reads the address of one version, which most writes need. Throws VALIDATION_ERROR without a version. */
export function parseVersionAddress(params: DefinitionName): VersionAddress {
  const { version, ...address } = parseAddress(params);
  if (version !== null) return { ...address, version };
  throw invalidField("name", `must have a version, such as ${params.name}@1.0.0`);
}

/** Reads an address without a version. Throws VALIDATION_ERROR for one with a version. */
export function parseLineAddress(params: DefinitionName): DefinitionAddress {
  const address = parseAddress(params);
  if (address.version === null) return address;
  throw invalidField("name", "must not have a version");
}

/** Splits `@org/name@version` without checking the parts; the name is empty for a text of another form. */
export function splitAddress(text: string): Omit<DefinitionAddress, "type"> {
  const [, orgSlug = null, name = "", version = null] =
    /^(?:@([^/]*)\/)?([^@/]*)(?:@(.*))?$/s.exec(text) ?? [];
  return { orgSlug, name, version };
}
