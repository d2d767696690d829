/** The programs of the system that tests run: their location and version. */
import { existsSync } from "node:fs";

export interface Program {
  /** Names to look for in `PATH`; the first one found counts. */
  names: readonly [string, ...string[]];
  /** An environment variable that may have its path. */
  variable?: string;
  /** Arguments that print its version, and the pattern of the version. */
  version: { args: readonly string[]; pattern: RegExp };
  /** The oldest accepted version. */
  atLeast?: string;
  /** Its package in Debian and Ubuntu. */
  package: string;
}

const DASHED = ["--version"];

/** By its common name. */
export const PROGRAMS = {
  "7-Zip": { names: ["7z"], version: { args: [], pattern: /7-Zip.*? ([\d.]+)/ }, package: "p7zip-full" },
  Chromium: {
    // The first is the same engine without windows: tests take half the processor time.
    names: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"],
    variable: "CHROMIUM_PATH",
    version: { args: DASHED, pattern: /Chrom\S* ([\d.]+)/ },
    package: "chromium-headless-shell",
  },
  curl: {
    names: ["curl"],
    version: { args: DASHED, pattern: /^curl ([\d.]+)/ },
    // --fail-with-body, in docs/ci.md.
    atLeast: "7.76.0",
    package: "curl",
  },
  git: { names: ["git"], version: { args: DASHED, pattern: /git version ([\d.]+)/ }, package: "git" },
  iproute2: { names: ["ip"], version: { args: ["-V"], pattern: /iproute2-([\d.]+)/ }, package: "iproute2" },
  // Since version 11 it runs source files.
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
    // Required by docs/cost.md.
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

/** The path of a program: the one in its variable, otherwise the first in `PATH`; null if there is none. */
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

/** Returns what is wrong with a program: missing, another one, or too old; null if nothing is. */
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

/** Versions such as "15" and "3.11.2.1" as SemVer. */
function padded(version: string): string {
  return [...version.split(".").map(Number), 0, 0].slice(0, 3).join(".");
}
