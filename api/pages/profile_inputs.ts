/** The fields that the public profiles of users and organizations share. */
import { type FormProblems, inputField, textField, UNSAVED_OFFER } from "./forms.ts";
import { type Html, html } from "./html.ts";

/** Renders the text about a user or an organization, and their website, with what was typed. */
export function profileInputs(
  { name, label, value }: { name: string; label: string; value: string },
  websiteUrl: string,
  problems: FormProblems | null,
): readonly Html[] {
  return [
    UNSAVED_OFFER,
    textField(
      { name, label, hint: "Up to 2,000 characters.", problems },
      html`rows="5" maxlength="2000"`,
      value,
    ),
    inputField(
      { name: "websiteUrl", label: "Website", hint: "Begins with https:// or http://.", problems },
      html`type="url" maxlength="2000" autocomplete="url" value="${websiteUrl}"`,
    ),
  ];
}
