/** Addresses of definition pages: `/definitions/{type}/@{organization}/{name}`, with or without `@version`. */
import { ApiError } from "../../../shared/errors.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { parseAddress } from "../../definitions/address.ts";
import { notFound } from "../../http/require_visible.ts";
import type { LinkedDefinition } from "../addresses.ts";
import type { Page, PageResult } from "../page.ts";

/** The definition that a page is about. */
export interface PageAddress extends LinkedDefinition {
  type: DefinitionType;
  version: string | null;
}

export type VersionPageAddress = PageAddress & { version: string };

/** Parameters of `/definitions/:type/:org/:name`; the organization begins with `@`. */
interface DefinitionPageParams {
  type: string;
  org: string;
  name: string;
}

/** Parses the path parameters. Throws NOT_FOUND for an invalid address, as for any unknown page. */
function parsePageAddress(params: DefinitionPageParams): PageAddress {
  const type = requireType(params.type);
  try {
    const { orgSlug, name, version } = parseAddress({ type, name: `${params.org}/${params.name}` });
    if (orgSlug !== null) return { organization: orgSlug, type, name, version };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  throw notFound("route");
}

/** Wraps a view so that it receives the parsed address of a definition. */
export function about<P extends Page>(view: (page: P, address: PageAddress) => Promise<PageResult>) {
  return (page: P, params: DefinitionPageParams) => view(page, parsePageAddress(params));
}

/** Returns the path parameters that identify a definition in the API. */
export function apiParams(address: LinkedDefinition): { type: string; name: string } {
  return { type: address.type, name: fullName(address) };
}

/** Returns `@organization/name`, followed by `@version` if there is a version. */
export function fullName({ organization, name, version = null }: Omit<LinkedDefinition, "type">): string {
  return `@${organization}/${name}${version === null ? "" : `@${version}`}`;
}

/** Returns a definition type. Throws NOT_FOUND for any other text. */
export function requireType(text: string): DefinitionType {
  const type = DEFINITION_TYPES.find((known) => known === text);
  if (type) return type;
  throw notFound("route");
}
