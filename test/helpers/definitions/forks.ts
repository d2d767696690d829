/** Creates and counts forks over HTTP. */
import type { Definition } from "../../../sql/definitions/fields.ts";
import type { TestApp } from "../http/app.ts";
import { ask, type Caller, definitionOf, write } from "./definitions.ts";

export interface Forked {
  definition: Definition;
  fork: Record<string, string>;
  source: Record<string, string>;
  warnings: unknown[];
}

/** Forks a definition over HTTP; throws if that fails. `path` is the source's path, relative to `/definitions`. */
export async function makeFork(api: TestApp, caller: Caller, path: string, body: object): Promise<Forked> {
  const response = await write(api, `${path}/fork`, caller, { body });
  return (await dataOf(response, 201)) as unknown as Forked;
}

/** Returns the `data` of a response. Throws unless the response has the status `status`. */
export async function dataOf(response: Response, status = 200): Promise<Record<string, unknown>> {
  const body = (await response.json()) as { data?: Record<string, unknown> };
  if (response.status === status && body.data) return body.data;
  throw new Error(`Cannot read an answer: ${response.status} ${JSON.stringify(body)}`);
}

/** Returns an agent's `forkCount` and the `totalForks` of the list of its forks, as `caller` sees them. */
export async function forkCounts(api: TestApp, path: string, caller: Caller | null): Promise<unknown[]> {
  const { forkCount } = await definitionOf(await ask(api, `/agent/${path}`, caller));
  const { totalForks } = await dataOf(await ask(api, `/agent/${path}/forks`, caller));
  return [forkCount, totalForks];
}
