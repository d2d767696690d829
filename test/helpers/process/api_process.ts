/** Starts the API as a child process. */
import { type TestApp, testRequest } from "../http/app.ts";
import { type ServiceProcess, spawnService, untilLogged } from "./service_process.ts";

export interface ApiProcess extends ServiceProcess, Pick<TestApp, "request"> {
  url: string;
}

/** Starts the API with only these environment variables. Does not wait until it listens. */
export function spawnApi(env: Readonly<Record<string, string>>): ServiceProcess {
  return spawnService("api", env);
}

/** Starts the API on a free port and waits until it listens. */
export async function startApi(env: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const api = spawnApi({ PORT: "0", ...env });
  const { port } = await untilLogged(api, "listening");
  const url = `http://127.0.0.1:${port}`;
  return { ...api, url, request: (path, options) => fetch(testRequest(`${url}${path}`, options)) };
}
