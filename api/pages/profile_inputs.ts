/** The fields that the public profiles of users and organizations share. */
import { type FormProblems, inputField, textField, UNSAVED_OFFER } from "./forms.ts";
import { type Html, html } from "./html.ts";

/** Renders the fields for the description and website of a user or an organization, with the user's input. */
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
