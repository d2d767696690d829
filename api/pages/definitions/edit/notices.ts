/** What forms about definitions have done, by the name of the notice. */
export const NOTICES: Readonly<Record<string, string>> = {
  saved: "The draft is saved.",
  published: "Published. This version can no longer change.",
  deprecated: "This version is deprecated.",
  archived: "This version is archived.",
  retranslated: "The Markdown was rendered again.",
  unchanged: "The current translator renders the same Markdown. Nothing was changed.",
  untranslatable: "The current translator cannot render this document. The stored Markdown was kept.",
  forked: "Forked. This is the first draft of your copy.",
};
