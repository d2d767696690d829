import { expect, test } from "bun:test";
import { modelName, parseModelName } from "../../../shared/models/model_name.ts";

test("a model name is split at its first slash, because model ids may contain slashes", () => {
  const key = { provider: "openrouter", modelId: "openai/gpt-5" };
  expect(parseModelName("openrouter/openai/gpt-5")).toEqual(key);
  expect(modelName(key)).toBe("openrouter/openai/gpt-5");
});

test("a provider or model id missing from a model name is parsed as an empty string", () => {
  expect(parseModelName("gpt-5")).toEqual({ provider: "gpt-5", modelId: "" });
  expect(parseModelName("/gpt-5")).toEqual({ provider: "", modelId: "gpt-5" });
});
