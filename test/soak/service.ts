/** A process of the service that can be killed and restarted. Records its log and its memory use. */
import { fileURLToPath } from "node:url";
import { type Child, describeExit, type Supervisor } from "../../deploy/local/supervisor.ts";
import { signalProcess } from "../helpers/process/identity.ts";
import { waitFor } from "../helpers/wait_for.ts";

const START_TIMEOUT_MS = 60_000;
/** Matches the log lines to keep. Request lines are dropped, because they would be too many. */
const KEPT = /"level":"(?:warn|error|fatal)"/;

/** The number of log lines to show for an unexpected exit. */
const LAST_LINES = 4;
/** The number of characters to keep of a line. Outages cause many lines, each with a stack trace. */
const SHOWN = 600;

/** A log line, or a line of stderr. */
export interface ServiceLine {
  service: string;
  /** The time when the line was read, by `performance.now()`. */
  at: number;
  level: string;
  message: string;
  text: string;
}

/** The life of a process, from start to exit. */
export interface Life {
  service: string;
  pid: number;
  /** The times of start and exit, by `performance.now()`. `to` is null while the process runs. */
  from: number;
  to: number | null;
  memory: { at: number; bytes: number }[];
}

export interface ServiceOptions {
  /** The name of the process, for example `api-1`. */
  name: string;
  folder: "api" | "jobs";
  /** The log message that reports that the process is ready. */
  readyMessage: string;
  env: Readonly<Record<string, string>>;
  supervisor: Supervisor;
}

export class Service {
  readonly lives: Life[] = [];
  readonly lines: ServiceLine[] = [];
  /** Descriptions of unexpected exits. */
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

  /** The base URL of an API process. */
  get url(): string {
    return `http://127.0.0.1:${this.#options.env["PORT"]}`;
  }

  /** The current process, or the last one if none is running. */
  get life(): Life {
    const life = this.lives.at(-1);
    if (!life) throw new Error(`Cannot tell of ${this.name}: it was never started`);
    return life;
  }

  /** Starts the process and waits until it reports that it is ready. */
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

  /** Kills the process with SIGKILL and waits until it has exited. */
  async kill(): Promise<void> {
    this.#isExpectedToEnd = true;
    signalProcess(this.life.pid, "SIGKILL");
    await this.#child?.exited;
  }

  /** Stops the process with SIGTERM, as an operator would, and returns its exit code. */
  async leave(): Promise<number | null> {
    this.#isExpectedToEnd = true;
    signalProcess(this.life.pid, "SIGTERM");
    const exit = await this.#child?.exited;
    return exit?.code ?? null;
  }

  #keep(text: string, stream: "stdout" | "stderr"): void {
    if (stream === "stdout" && !KEPT.test(text)) return;
    const { level, message } = parseLine(text, stream);
    // A fatal line explains an exit, so it is kept whole.
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
