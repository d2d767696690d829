/** The models and tools that a document names. */
import type { PathStep } from "../yaml/problems.ts";
import { toList, toRecord } from "../yaml/values.ts";
import type { DefinitionSource } from "./source.ts";

/** Tools of the definition language. */
export const TOOLS = ["Read", "Grep", "Glob", "Bash", "Web", "API", "MCP"] as const;

/** A text and its place in the document. */
export interface NamedText {
  text: string;
  path: PathStep[];
}

/** Returns the models that a document names, in no particular order. Templates such as `{{ model }}` are left out. */
export function listModels({ type, body }: Pick<DefinitionSource, "type" | "body">): NamedText[] {
  const model = toRecord(body["execution"])["model"];
  const places: readonly (readonly [unknown, ...PathStep[]])[] = [
    [toRecord(body["defaults"])["model"], "defaults", "model"],
    [toRecord(body["interface"])["model"], "interface", "model"],
    [model, "execution", "model"],
    [toRecord(model)["default"], "execution", "model", "default"],
    ...toList(toRecord(model)["allowed"]).map(
      (text, index) => [text, "execution", "model", "allowed", index] as const,
    ),
    ...toList(body["stages"]).flatMap((stage, at) =>
      toList(toRecord(stage)["agents"]).map(
        (agent, index) => [toRecord(agent)["model"], "stages", at, "agents", index, "model"] as const,
      ),
    ),
  ];
  return texts(type, places).filter(({ text }) => !/[{}$]/.test(text));
}

/** Returns the tools that a document names, in document order. One text may hold several, separated by commas. */
export function listTools({ type, body }: Pick<DefinitionSource, "type" | "body">): NamedText[] {
  const { tools } = toRecord(body["interface"]);
  const places =
    typeof tools === "string"
      ? ([[tools, "interface", "tools"]] as const)
      : toList(tools).map((text, index) => [text, "interface", "tools", index] as const);
  return texts(type, places).flatMap(({ text, path }) =>
    text.split(",").flatMap((part) => (part.trim() === "" ? [] : [{ text: part.trim(), path }])),
  );
}

function texts(type: string, places: readonly (readonly [unknown, ...PathStep[]])[]): NamedText[] {
  return places.flatMap(([text, ...path]) =>
    typeof text === "string" && text.trim() !== "" ? [{ text: text.trim(), path: [type, ...path] }] : [],
  );
}
