/** Renders corrections of past prices. Plots and lists of changes show the prices as recorded. */
import { type Html, html } from "../html.ts";
import { dataTable, numberHeading, renderInstant } from "../parts.ts";
import { priceLabel, priceOrUnknown } from "./format.ts";
import type { Compared } from "./model_responses.ts";

/** Renders the corrections of these models, newest first per model; null if these models have no corrections. */
export function correctionTable(compared: readonly Compared[]): Html | null {
  const isOfSeveral = compared.length > 1;
  const rows = compared.flatMap(({ model, corrections }) =>
    corrections.map(
      ({ field, validFrom, validTo, value, reason }) => html`<tr>
${isOfSeveral && html`<th scope="row">${model.name}</th>`}<th scope="row">${priceLabel(field)}</th>
<td>${renderInstant(validFrom)}</td><td>${renderInstant(validTo)}</td>
<td class="number">${priceOrUnknown(value)}</td><td class="reason">${reason}</td></tr>`,
    ),
  );
  if (rows.length === 0) return null;
  const columns = ["Price", "From", "To", numberHeading("Corrected to"), "Reason"];
  return html`<h3>Corrected prices</h3>
<p class="quiet">An operator has corrected these past prices. The plots and changes show the recorded ones.${rows.length > 1 && " If corrections of a price overlap, the first one counts."}</p>
${dataTable("Corrected prices", isOfSeveral ? ["Model", ...columns] : columns, rows)}`;
}
