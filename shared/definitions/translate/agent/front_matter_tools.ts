/**
 * Maps an agent's tools to the tool names of coding agents, for `tools` in the front matter, and lists the tools that only the host
 * knows.
 */
import { type Inline, prose } from "../inline.ts";
import type { Agent } from "./agent_source.ts";

const RUNTIME_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["Read", ["Read"]],
  ["Grep", ["Grep"]],
  ["Glob", ["Glob"]],
  ["Bash", ["Bash"]],
  ["Web", ["WebFetch", "WebSearch"]],
]);
/** The default value. Without the key `tools`, an agent would inherit all tools. */
const READING_TOOLS = "Read, Grep, Glob";

/**
 * Returns the value of `tools` in the front matter. For executors and generators that name no tools, returns `null`, which omits
 * the key, so that the agent inherits all tools. Tools that only the host knows never grant other tools, such as Bash.
 */
export function runtimeTools(agent: Agent): string | null {
  const tools = listTools(agent);
  const names = tools.flatMap((tool) => RUNTIME_NAMES.get(tool) ?? []);
  if (names.length > 0) return [...new Set(names)].join(", ");
  const inheritsAll = agent.type === "executor" || agent.type === "generator";
  return inheritsAll && tools.length === 0 ? null : READING_TOOLS;
}

/** Returns the tools whose name only the host knows, such as API and MCP. */
export function hostTools(agent: Agent): (Inline | null)[] {
  return [...new Set(listTools(agent))].filter((tool) => !RUNTIME_NAMES.has(tool)).map(prose);
}

function listTools(agent: Agent): string[] {
  const names = agent.interface.texts("tools").flatMap((text) => text.split(","));
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
