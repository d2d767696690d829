/**
 * Measures how long the event loop of a service process is blocked. The process loads this file with `--preload`. A separate port
 * serves the measurements, and each response starts a new measurement.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

const TICK_MS = 5;
const MICROSECONDS = 1000;
const NANOSECONDS = 1e6;

/** Measurements of the event loop, in milliseconds. */
export interface LoopReading {
  /** The longest time between two turns of the loop, less the timer's interval. */
  delayMs: number;
  /** The maximum CPU time of the loop's thread between two timer ticks. Other processes do not add to it. */
  cpuMs: number;
}

export const LOOP_PROBE_PORT = "LOOP_PROBE_PORT";

function startProbe(port: number): void {
  const delays = monitorEventLoopDelay({ resolution: TICK_MS });
  delays.enable();
  let usage = process.threadCpuUsage();
  let cpuMs = 0;
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(usage);
    cpuMs = Math.max(cpuMs, (user + system) / MICROSECONDS);
    usage = process.threadCpuUsage();
  }, TICK_MS).unref();
  Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch() {
      const reading: LoopReading = { delayMs: delays.max / NANOSECONDS, cpuMs };
      delays.reset();
      cpuMs = 0;
      return Response.json(reading);
    },
  }).unref();
}

const port = process.env[LOOP_PROBE_PORT];
if (port !== undefined && Bun.isMainThread) startProbe(Number(port));
