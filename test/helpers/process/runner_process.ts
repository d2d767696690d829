/** Starts the job runner as a child process. */
import { type ServiceProcess, spawnService, untilLogged } from "./service_process.ts";

/** Starts the runner with only these environment variables. Does not wait until it takes jobs. */
export function spawnRunner(env: Readonly<Record<string, string>>): ServiceProcess {
  return spawnService("jobs", env);
}

/** Starts the runner and waits until it takes jobs from the queues. */
export async function startRunner(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const runner = spawnRunner(env);
  await untilLogged(runner, "working");
  return runner;
}
