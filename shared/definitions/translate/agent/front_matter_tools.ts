/** The tools of an agent in the words of coding agents: `tools` in the front matter, and those that only the host knows. */
import { type Inline, prose } from "../inline.ts";
import type { Agent } from "./agent_source.ts";

const RUNTIME_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["Read", ["Read"]],
  ["Grep", ["Grep"]],
  ["Glob", ["Glob"]],
  ["Bash", ["Bash"]],
  ["Web", ["WebFetch", "WebSearch"]],
]);
/** Without the key, an agent would get every tool there is. */
const READING_TOOLS = "Read, Grep, Glob";

/**
 * Value of `tools` in the front matter; `null` leaves the key out, and then the agent inherits all tools. That is for types
 * that do work and name no tools. Tools that only the host knows never grant others, such as Bash.
 */
export function runtimeTools(agent: Agent): string | null {
  const tools = listTools(agent);
  const names = tools.flatMap((tool) => RUNTIME_NAMES.get(tool) ?? []);
  if (names.length > 0) return [...new Set(names)].join(", ");
  const inheritsAll = agent.type === "executor" || agent.type === "generator";
  return inheritsAll && tools.length === 0 ? null : READING_TOOLS;
}

/** Tools such as API and MCP, whose name only the host knows. */
export function hostTools(agent: Agent): (Inline | null)[] {
  return [...new Set(listTools(agent))].filter((tool) => !RUNTIME_NAMES.has(tool)).map(prose);
}

function listTools(agent: Agent): string[] {
  const names = agent.interface.texts("tools").flatMap((text) => text.split(","));
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
