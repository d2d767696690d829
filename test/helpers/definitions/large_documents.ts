/** Creates documents that are slow to parse because they are near the size limits. */

/** Returns an explorer document of about 130 KB with 9,000 keys. Each `variant` has different values. */
export function largeAgentYaml(name: string, version = "1.0.0", variant = 0): string {
  const keys = Array.from({ length: 9_000 }, (_, n) => `    k${n}: v${(n * (variant + 1)) % 97}`);
  return [
    "agent:",
    "  interface:",
    `    name: ${name}`,
    `    version: "${version}"`,
    "    description: As much as a document may hold, and a little less.",
    "    agentType: explorer",
    "  mission:",
    "    opener: You look at one key after the other and report what you find.",
    "  knowledge_base:",
    ...keys,
    "",
  ].join("\n");
}
