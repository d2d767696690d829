/** The groups of endpoints, in the order of the documentation. */
export const OPENAPI_TAGS = [
  {
    name: "Export",
    description:
      "Tracker data of a project or an organization, as a consistent snapshot at a point in time. Requires a paid tier. " +
      "Bundles and organization exports also require the publisher role, and a session or a key of kind `user`.",
  },
  { name: "Organizations", description: "Organizations, their members and projects." },
  { name: "Users", description: "Public profiles." },
  {
    name: "Versions",
    description: "The versions of a definition and the differences between them.",
  },
  { name: "Definitions", description: "Agents, commands, workflows and pipelines." },
  {
    name: "Model catalog",
    description:
      "Language models with capabilities, prices and aliases. No credential required; responses have an ETag.",
  },
  {
    name: "Events",
    description:
      "What happened: exports that ended, definitions that changed their status, models and their prices.",
  },
  { name: "Authentication", description: "Sign-in, sessions and API keys." },
  { name: "Operations", description: "Probes and metrics for operators. No credential required." },
] as const;

const NAMES: readonly string[] = OPENAPI_TAGS.map(({ name }) => name);

/** Returns the used tags in order. Throws for an unknown tag. */
export function listTags(used: ReadonlySet<string>): object[] {
  for (const name of used) {
    if (!NAMES.includes(name))
      throw new Error(`Cannot describe the API: the tag "${name}" is not on the list`);
  }
  return OPENAPI_TAGS.filter(({ name }) => used.has(name));
}
