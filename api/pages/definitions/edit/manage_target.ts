/** The definition that a page of publishers is about, and whether its visitor may change it. */
import { isVersion } from "../../../../shared/definitions/versions.ts";
import { ApiError } from "../../../../shared/errors.ts";
import { mayWriteDefinitions } from "../../../../shared/policy.ts";
import { isAccountSlug } from "../../../../shared/slugs.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../../shared/vocabulary.ts";
import type { Definition } from "../../../../sql/definitions/fields.ts";
import { splitAddress } from "../../../definitions/address.ts";
import { requireAllowed } from "../../../http/require_allowed.ts";
import type { SignedInPage } from "../../page.ts";
import type { PageOrg } from "../../page_session.ts";

/** Path parameters of `/definitions/:type/:org/:name`; the organization begins with `@`. */
export interface DefinitionPageParams {
  type: string;
  org: string;
  name: string;
}

/** A definition, or one version of it. */
export interface DefinitionTarget {
  type: DefinitionType;
  /** Slug of the organization. */
  orgSlug: string;
  name: string;
  /** Null without a version in the address. */
  version: string | null;
}

export type VersionTarget = DefinitionTarget & { version: string };

/** Reads the address of a page. Throws the error of an unknown address. */
export function parseTarget({ type, org, name: text }: DefinitionPageParams): DefinitionTarget {
  const known = DEFINITION_TYPES.find((word) => word === type);
  const orgSlug = org.startsWith("@") ? org.slice(1) : "";
  const { name, version } = splitAddress(text);
  const isAddress = isAccountSlug(orgSlug) && name !== "" && (version === null || isVersion(version));
  if (!known || !isAddress) throw unknownAddress();
  return { type: known, orgSlug, name, version };
}

/** Reads the address of a version's page. Throws the error of an unknown address. */
export function parseVersionTarget(params: DefinitionPageParams): VersionTarget {
  const { version, ...target } = parseTarget(params);
  if (version === null) throw unknownAddress();
  return { ...target, version };
}

/**
 * Returns the organization of a definition if the visitor may change definitions there. Throws what the API throws for a
 * role that is too low. For an organization of others, it throws the error of an unknown address, before it is known
 * whether the definition exists.
 */
export function requirePublisher(page: SignedInPage, orgSlug: string): PageOrg {
  const org = page.session.organizations.find(({ slug }) => slug === orgSlug);
  if (!org) throw unknownAddress();
  requireAllowed(mayWriteDefinitions(org.role), org);
  return org;
}

/** Returns the path below `/definitions` that pages and API share: `/agent/@acme/reviewer@1.0.0`. */
export function pathOf({ type, orgSlug, name, version }: DefinitionTarget): string {
  return `/${type}/@${orgSlug}/${encodeURIComponent(name)}${version === null ? "" : `@${version}`}`;
}

/** Loads the version, or the highest published one if the address has none. Throws NOT_FOUND. */
export async function loadDefinition(page: SignedInPage, target: DefinitionTarget): Promise<Definition> {
  const { data } = await page.api<{ data: Definition }>(`/definitions${pathOf(target)}`);
  return data;
}

function unknownAddress(): ApiError {
  return new ApiError("NOT_FOUND", { details: { reason: "route" } });
}
