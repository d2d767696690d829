/** A process of the service that can be killed and restarted, with its log and memory use. */
import { fileURLToPath } from "node:url";
import { type Child, describeExit, type Supervisor } from "../../deploy/local/supervisor.ts";
import { signalProcess } from "../helpers/process/identity.ts";
import { waitFor } from "../helpers/wait_for.ts";

const START_TIMEOUT_MS = 60_000;
/** The levels to keep: lines of requests would be too many. */
const KEPT = /"level":"(?:warn|error|fatal)"/;

/** Called when a process exits by itself. */
const LAST_LINES = 4;
/** Characters of a line to keep: outages cause many lines, each with a stack. */
const SHOWN = 600;

/** A log line, or a line of stderr that is not one. */
export interface ServiceLine {
  service: string;
  /** When it was read, by `performance.now()`. */
  at: number;
  level: string;
  message: string;
  text: string;
}

/** One process from start to exit. */
export interface Life {
  service: string;
  pid: number;
  /** Both by `performance.now()`. */
  from: number;
  to: number | null;
  memory: { at: number; bytes: number }[];
}

export interface ServiceOptions {
  /** For example `api-1`. */
  name: string;
  folder: "api" | "jobs";
  /** The log message that says it is up. */
  readyMessage: string;
  env: Readonly<Record<string, string>>;
  supervisor: Supervisor;
}

export class Service {
  readonly lives: Life[] = [];
  readonly lines: ServiceLine[] = [];
  /** Unexpected exits. */
  readonly accidents: string[] = [];
  readonly #options: ServiceOptions;
  #child: Child | null = null;
  #isExpectedToEnd = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The address of an API. */
  get url(): string {
    return `http://127.0.0.1:${this.#options.env["PORT"]}`;
  }

  /** The running process, or the last one. */
  get life(): Life {
    const life = this.lives.at(-1);
    if (!life) throw new Error(`Cannot tell of ${this.name}: it was never started`);
    return life;
  }

  /** Starts it and waits until it reports that it is up. */
  async start(): Promise<void> {
    const { folder, env, supervisor, readyMessage } = this.#options;
    let isReady = false;
    this.#isExpectedToEnd = false;
    const child = await supervisor.spawn({
      name: this.name,
      command: process.execPath,
      args: [fileURLToPath(new URL(`../../${folder}/main.ts`, import.meta.url))],
      cwd: env["DATA_DIR"] ?? "/",
      env: { ...env },
      output: (line, stream) => {
        if (stream === "stdout" && line.includes(`"message":"${readyMessage}"`)) isReady = true;
        else this.#keep(line, stream);
      },
    });
    this.#child = child;
    const life: Life = { service: this.name, pid: child.pid, from: performance.now(), to: null, memory: [] };
    this.lives.push(life);
    void child.exited.then((exit) => {
      life.to = performance.now();
      if (this.#isExpectedToEnd) return;
      const last = this.lines.slice(-LAST_LINES).map(({ text }) => `\n    ${text}`);
      this.accidents.push(`${this.name}: ${describeExit(exit)}, after ${last.join("")}`);
    });
    await waitFor(() => isReady || child.hasExited(), START_TIMEOUT_MS);
    if (!isReady)
      throw new Error(`Cannot start ${this.name}: ${this.lines.at(-1)?.text ?? "it said nothing"}`);
  }

  /** `kill -9`; settles when the process is gone. */
  async kill(): Promise<void> {
    this.#isExpectedToEnd = true;
    signalProcess(this.life.pid, "SIGKILL");
    await this.#child?.exited;
  }

  /** Stops it as an operator would; returns the exit code. */
  async leave(): Promise<number | null> {
    this.#isExpectedToEnd = true;
    signalProcess(this.life.pid, "SIGTERM");
    const exit = await this.#child?.exited;
    return exit?.code ?? null;
  }

  #keep(text: string, stream: "stdout" | "stderr"): void {
    if (stream === "stdout" && !KEPT.test(text)) return;
    const { level, message } = parseLine(text, stream);
    // The line that explains an exit is kept whole.
    const shown = text.length > SHOWN && level !== "fatal" ? `${text.slice(0, SHOWN)}…` : text;
    this.lines.push({ service: this.name, at: performance.now(), level, message, text: shown });
  }
}

function parseLine(text: string, stream: "stdout" | "stderr"): { level: string; message: string } {
  if (stream === "stderr") return { level: "stderr", message: text };
  try {
    const { level, message } = JSON.parse(text) as { level: string; message?: string };
    return { level, message: message ?? "" };
  } catch {
    return { level: "cut off", message: "the last line of a process that was killed" };
  }
}
