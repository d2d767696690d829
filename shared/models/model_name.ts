/** Formats and parses model names: `provider/modelId`. */

export function modelName({ provider, modelId }: { provider: string; modelId: string }): string {
  return `${provider}/${modelId}`;
}

/** Splits a name at the first slash, because provider ids contain no slash. Without a slash, the model id is empty. */
export function parseModelName(name: string): { provider: string; modelId: string } {
  const [provider = "", ...rest] = name.split("/");
  return { provider, modelId: rest.join("/") };
}
