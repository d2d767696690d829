/** The fields that the public profiles of users and organizations share. */
import { type FormProblems, formField } from "./forms.ts";
import { type Html, html } from "./html.ts";

interface AboutField {
  /** The API's name of the field. */
  name: string;
  label: string;
  value: string;
}

/** Renders the text about a user or an organization, and their website, with what was typed. */
export function profileInputs(
  about: AboutField,
  websiteUrl: string,
  problems: FormProblems | null,
): readonly Html[] {
  const { name, label, value } = about;
  return [
    formField(
      { name, label, hint: "Up to 2,000 characters.", problems },
      // A line break at the start of a text area is not part of its text, so one is added.
      (attributes) => html`<textarea ${attributes} rows="5" maxlength="2000">
${value}</textarea>`,
    ),
    formField(
      { name: "websiteUrl", label: "Website", hint: "Begins with https:// or http://.", problems },
      (attributes) =>
        html`<input ${attributes} type="url" maxlength="2000" autocomplete="url" value="${websiteUrl}">`,
    ),
  ];
}
