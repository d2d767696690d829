/** Names of models as people write them: `provider/modelId`. */

export function modelName({ provider, modelId }: { provider: string; modelId: string }): string {
  return `${provider}/${modelId}`;
}

/** Splits at the first slash: provider ids have none. Without a slash, the model id is empty. */
export function parseModelName(name: string): { provider: string; modelId: string } {
  const [provider = "", ...rest] = name.split("/");
  return { provider, modelId: rest.join("/") };
}
