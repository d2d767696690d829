/** A process that also prints its last words on stdout, as JSON. */
import { toJsonLine } from "../shared/json_lines.ts";
import type { Host } from "../shared/process/entry_point.ts";
import { errorJson } from "./summary.ts";

/** Wraps a process for `--json`: what it writes to stderr before it exits with a failure is on stdout too. */
export function jsonHost(host: Host & Pick<NodeJS.Process, "stdout">): Host {
  const lines: string[] = [];
  const write = (text: string): void => {
    lines.push(text);
    host.stderr.write(text);
  };
  const exit = (code: number): never => {
    const message = lines.join("").trimEnd();
    host.stdout.write(`${toJsonLine(errorJson(code === 2 ? "USAGE" : "FAILED", message))}\n`);
    return host.exit(code);
  };
  return new Proxy(host, {
    get(target, name) {
      if (name === "exit") return exit;
      if (name === "stderr") return { write };
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
