/** `/definitions/{type}/{name or id}`: redirects to the address with the organization. */
import { ApiError } from "../../../shared/errors.ts";
import type { Definition } from "../../../sql/definitions/fields.ts";
import { parseReadAddress } from "../../definitions/address.ts";
import { definitionPath, organizationOf, pathOf } from "../addresses.ts";
import { type Page, seeOther } from "../page.ts";
import { pageNotFound, requireType } from "./page_address.ts";

/** Redirects to what the name or id means for the visitor. Throws NOT_FOUND. */
export async function redirectToDefinition(
  page: Pick<Page, "api">,
  given: { type: string; org: string },
): Promise<Response> {
  const type = requireType(given.type);
  const namesVersion = checkName({ type, name: given.org });
  const query = "?includeYaml=false&includeRuntime=false";
  const path = `/definitions${pathOf(type, given.org)}${query}`;
  const { data } = await page.api<{ data: Definition }>(path);
  const { name, version } = data;
  const organization = organizationOf(data);
  return seeOther(definitionPath({ type, organization, name, version: namesVersion ? version : null }));
}

/** Whether it is an id, or a name with a version. Throws NOT_FOUND for what can be neither. */
function checkName(given: Parameters<typeof parseReadAddress>[0]): boolean {
  try {
    const address = parseReadAddress(given);
    return "id" in address || address.version !== null;
  } catch (error) {
    if (error instanceof ApiError) throw pageNotFound();
    throw error;
  }
}
