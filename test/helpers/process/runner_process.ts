/** The job runner as a process. */
import { type ServiceProcess, spawnService, untilLogged } from "./service_process.ts";

/** Starts the process with only these variables, without waiting. */
export function spawnRunner(env: Readonly<Record<string, string>>): ServiceProcess {
  return spawnService("jobs", env);
}

/** Starts the process and waits until it works on the queues. */
export async function startRunner(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const runner = spawnRunner(env);
  await untilLogged(runner, "working");
  return runner;
}
