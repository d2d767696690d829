/** `/definitions/{type}/{name or id}`: redirects to the address with the organization. */
import { ApiError } from "../../../shared/errors.ts";
import { parseReadAddress } from "../../definitions/address.ts";
import { getDefinition } from "../../definitions/read.ts";
import { definitionPath, organizationOf } from "../addresses.ts";
import { type Page, seeOther } from "../page.ts";
import { pageNotFound, requireType } from "./page_address.ts";

/** Redirects to what the name or id means for the visitor. Throws NOT_FOUND. */
export async function redirectToDefinition(
  page: Page,
  options: { type: string; org: string },
): Promise<Response> {
  const type = requireType(options.type);
  const namesVersion = checkName({ type, name: options.org });
  const { data } = await page.call(getDefinition, {
    params: { type, name: options.org },
    query: { includeYaml: false, includeRuntime: false },
  });
  const { name, version } = data;
  const organization = organizationOf(data);
  return seeOther(definitionPath({ type, organization, name, version: namesVersion ? version : null }));
}

/** Whether it is an id, or a name with a version. Throws NOT_FOUND for what can be neither. */
function checkName(options: Parameters<typeof parseReadAddress>[0]): boolean {
  try {
    const address = parseReadAddress(options);
    return "id" in address || address.version !== null;
  } catch (error) {
    if (error instanceof ApiError) throw pageNotFound();
    throw error;
  }
}
