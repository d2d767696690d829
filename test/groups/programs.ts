/** The system programs that tests run: their paths and versions. */
import { existsSync } from "node:fs";

export interface Program {
  /** File names to look for in `PATH`. The first one found is used. */
  names: readonly [string, ...string[]];
  /** An environment variable that may contain the program's path. */
  variable?: string;
  /** The arguments that print the program's version, and the pattern of the version in the output. */
  version: { args: readonly string[]; pattern: RegExp };
  /** The oldest accepted version. */
  atLeast?: string;
  /** The program's package in Debian and Ubuntu. */
  package: string;
}

const DASHED = ["--version"];

/** The programs by their common names. */
export const PROGRAMS = {
  "7-Zip": { names: ["7z"], version: { args: [], pattern: /7-Zip.*? ([\d.]+)/ }, package: "p7zip-full" },
  Chromium: {
    // The headless shell is the same engine without windows. With it, tests take half the processor time.
    names: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"],
    variable: "CHROMIUM_PATH",
    version: { args: DASHED, pattern: /Chrom\S* ([\d.]+)/ },
    package: "chromium-headless-shell",
  },
  curl: {
    names: ["curl"],
    version: { args: DASHED, pattern: /^curl ([\d.]+)/ },
    // docs/ci.md uses --fail-with-body.
    atLeast: "7.76.0",
    package: "curl",
  },
  git: { names: ["git"], version: { args: DASHED, pattern: /git version ([\d.]+)/ }, package: "git" },
  iproute2: { names: ["ip"], version: { args: ["-V"], pattern: /iproute2-([\d.]+)/ }, package: "iproute2" },
  // Since version 11, Java can run source files directly.
  Java: {
    names: ["java"],
    version: { args: DASHED, pattern: /(?:openjdk|java) ([\d.]+)/ },
    atLeast: "11",
    package: "default-jdk-headless",
  },
  jq: { names: ["jq"], version: { args: DASHED, pattern: /^jq-([\d.]+)/ }, package: "jq" },
  LibreOffice: {
    names: ["soffice"],
    version: { args: DASHED, pattern: /LibreOffice ([\d.]+)/ },
    package: "libreoffice-calc-nogui",
  },
  mount: { names: ["mount"], version: { args: DASHED, pattern: /util-linux ([\d.]+)/ }, package: "mount" },
  nginx: { names: ["nginx"], version: { args: ["-v"], pattern: /nginx\/([\d.]+)/ }, package: "nginx" },
  PgBouncer: {
    names: ["pgbouncer"],
    version: { args: DASHED, pattern: /PgBouncer ([\d.]+)/ },
    package: "pgbouncer",
  },
  PostgreSQL: {
    names: ["psql"],
    version: { args: DASHED, pattern: /PostgreSQL\) ([\d.]+)/ },
    atLeast: "15",
    package: "postgresql",
  },
  promtool: {
    names: ["promtool"],
    version: { args: DASHED, pattern: /promtool, version ([\d.]+)/ },
    package: "prometheus",
  },
  Python: {
    names: ["python3"],
    version: { args: DASHED, pattern: /^Python ([\d.]+)/ },
    // The program in docs/cost.md requires this version.
    atLeast: "3.9",
    package: "python3",
  },
  systemd: {
    names: ["systemd-analyze"],
    version: { args: DASHED, pattern: /^systemd (\d+)/ },
    package: "systemd",
  },
  unzip: { names: ["unzip"], version: { args: ["-v"], pattern: /^UnZip ([\d.]+)/ }, package: "unzip" },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/**
 * Returns a program's path: the value of its variable if set, otherwise the first match in `PATH`; null if it does not
 * exist.
 */
export function findProgram(name: ProgramName, env: NodeJS.ProcessEnv = process.env): string | null {
  const { names, variable }: Program = PROGRAMS[name];
  const given = variable === undefined ? undefined : env[variable];
  if (given) return existsSync(given) ? given : null;
  for (const candidate of names) {
    const path = Bun.which(candidate, { PATH: env["PATH"] ?? "" });
    if (path !== null) return path;
  }
  return null;
}

/** Returns what is wrong with a program: it is missing, a different program or too old. Returns null if it is usable. */
export function findFault(name: ProgramName, env: NodeJS.ProcessEnv = process.env): string | null {
  const { version, atLeast, variable }: Program = PROGRAMS[name];
  const path = findProgram(name, env);
  const given = variable === undefined ? undefined : env[variable];
  if (path === null) return given ? `${name}: ${variable} names ${given}, which does not exist` : name;
  const output = printedVersion(path, version.args);
  const [, found] = version.pattern.exec(output) ?? [];
  if (found === undefined) return `${name}: ${path} is another program (it prints "${firstLine(output)}")`;
  if (atLeast !== undefined && Bun.semver.order(padded(found), padded(atLeast)) < 0) {
    return `${name}: ${path} is version ${found}, the tests need ${atLeast}`;
  }
  return null;
}

function printedVersion(path: string, args: readonly string[]): string {
  try {
    const { stdout, stderr } = Bun.spawnSync([path, ...args], { timeout: 30_000 });
    return `${stdout.toString()}${stderr.toString()}`.trim();
  } catch (error) {
    return error instanceof Error ? error.message : "nothing";
  }
}

function firstLine(text: string): string {
  return text.slice(0, 80).split("\n")[0] ?? "";
}

/** Pads or truncates a version such as "15" or "3.11.2.1" to a SemVer version. */
function padded(version: string): string {
  return [...version.split(".").map(Number), 0, 0].slice(0, 3).join(".");
}
