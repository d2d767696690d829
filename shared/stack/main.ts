/** Entry point of `bun run start`. Until the dependencies are there, it may import nothing but Bun's own modules. */
import { fileURLToPath } from "node:url";
import { installDependencies } from "./install.ts";
import { openProgress } from "./progress.ts";
import { describeFailure } from "./refusal.ts";
import { listenForStop, type StopRequest } from "./stop_request.ts";
import { openSupervisor } from "./supervisor.ts";
import { untilAborted } from "./wait.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

async function main(request: StopRequest): Promise<void> {
  const startedAt = performance.now();
  const { env, stdout, stderr } = process;
  const progress = openProgress(stderr);
  {
    await using supervisor = openSupervisor(request);
    await untilAborted(installDependencies({ root: ROOT, env, supervisor, progress }), request.stop);
  }
  const { runStack } = await import("./start.ts");
  await runStack({ ...request, root: ROOT, env, progress, stdout, stderr, startedAt });
}

const request = listenForStop(process.env);
try {
  await main(request);
} catch (error) {
  if (!request.stop.aborted) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }
}
process.exit(0);
