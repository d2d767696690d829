/**
 * The files in `deploy/` refer only to existing files, variables, ports and addresses, and are consistent with each
 * other.
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DockerfileParser } from "dockerfile-ast";
import { parse } from "yaml";
import { Environment } from "../../shared/process/config_variables.ts";
import { FILE_VARIABLES } from "../../shared/process/variable_files.ts";
import { listFiles, ROOT } from "./source_files.ts";

/** The time that an API needs after its shutdown delay to finish requests, send traces and close connections. */
const STOP_SECONDS = 32;
const isVariable = (name: string): boolean => name in Environment.properties;
const isFileVariable = (name: string): boolean =>
  FILE_VARIABLES.some((variable) => name === `${variable}_FILE`);
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

interface Service {
  command: string[];
  image: string;
  mem_limit: string;
  environment: Record<string, string>;
  volumes: string[];
  networks: string[] | Record<string, { ipv4_address?: string }>;
  secrets: (string | { source: string })[];
  stop_grace_period: string;
  extra_hosts: string[];
  depends_on: Record<string, { condition: string }>;
  healthcheck: { test: string[] };
}

interface Compose {
  services: Record<string, Partial<Service>>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
}

const readCompose = async (): Promise<Compose> =>
  parse(await read("deploy/compose/compose.yaml"), { merge: true });

const isFileOfCompose = (path: string): boolean =>
  path.startsWith(".") && existsSync(join(ROOT, "deploy/compose", path));

const APIS = ["api-1", "api-2"];
const OWN_SERVICES = ["migrate", ...APIS, "jobs", "catalog-sync"];

describe("deploy/Dockerfile", () => {
  test("copies only existing files, from exactly the folders that .dockerignore allows", async () => {
    const dockerfile = DockerfileParser.parse(await read("deploy/Dockerfile"));
    const copied = dockerfile
      .getCOPYs()
      .filter((copy) => copy.getFromFlag() === null)
      .flatMap((copy) => copy.getArguments().slice(0, -1).map(String));
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const allowed = (await read(".dockerignore")).match(/(?<=^!).+/gm) ?? [];
    const top = new Set(copied.map((path) => path.split("/")[0] ?? path));
    expect([...top].sort()).toEqual([...allowed].sort());
  });

  test("starts an existing program as a non-root user, with the Bun version used in CI", async () => {
    const dockerfile = DockerfileParser.parse(await read("deploy/Dockerfile"));
    const [, bun] = /bun@([\d.]+)/.exec(await read(".ci/run")) ?? [];
    expect(dockerfile.getFROMs().map((from) => from.getImage())).toEqual(
      Array(2).fill(`oven/bun:${bun}-slim`),
    );
    const instructions = new Map(
      dockerfile.getInstructions().map((one) => [one.getKeyword(), one.getArgumentsContent() ?? ""]),
    );
    expect(instructions.get("USER")).toBe("1000:1000");
    expect(instructions.get("ENV")).toContain("METRICS_PORT=9464");
    expect(instructions.get("HEALTHCHECK")).toContain("127.0.0.1:9464/health/live");
    const [program, main] = JSON.parse(instructions.get("CMD") ?? "[]");
    expect([program, existsSync(join(ROOT, main))]).toEqual(["bun", true]);
    const variables = [...(instructions.get("ENV") ?? "").matchAll(/([A-Z_]+)=/g)].map(
      ([, name = ""]) => name,
    );
    expect(variables.filter((name) => name !== "NODE_ENV" && !isVariable(name))).toEqual([]);
  });
});

describe("deploy/compose/compose.yaml", () => {
  test("runs only existing programs, with known environment variables", async () => {
    const { services } = await readCompose();
    expect(Object.keys(services).sort()).toEqual([...OWN_SERVICES, "nginx", "postgres"].sort());
    for (const name of OWN_SERVICES) {
      const { command = [], environment = {}, image } = services[name] ?? {};
      expect([name, image, existsSync(join(ROOT, command[1] ?? "-"))]).toEqual([name, "ulr:local", true]);
      const unknown = Object.keys(environment).filter((key) => !isVariable(key) && !isFileVariable(key));
      expect([name, unknown]).toEqual([name, []]);
    }
  });

  test("uses only declared volumes, networks, secrets and services", async () => {
    const { services, networks, volumes, secrets } = await readCompose();
    const made = await read("deploy/compose/make-secrets.sh");
    for (const [name, service] of Object.entries(services)) {
      const { depends_on: others = {}, ...used } = service;
      const joined = Array.isArray(used.networks) ? used.networks : Object.keys(used.networks ?? {});
      const wanted = (used.secrets ?? []).map((one) => (typeof one === "string" ? one : one.source));
      const sources = (used.volumes ?? []).map((volume) => volume.split(":")[0] ?? "");
      const missing = [
        ...joined.filter((one) => !(one in networks)),
        ...wanted.filter((one) => !(one in secrets)),
        ...Object.keys(others).filter((one) => !(one in services)),
        ...sources.filter(
          (source) => !(source in volumes || isFileOfCompose(source) || made.includes(source.slice(2))),
        ),
      ];
      expect([name, missing]).toEqual([name, []]);
    }
    for (const [name, { file }] of Object.entries(secrets))
      expect([name, file]).toEqual([name, `./secrets/${name}`]);
  });

  test("gives APIs the addresses that nginx uses, and enough time to shut down", async () => {
    const { services } = await readCompose();
    const upstreams = (await read("deploy/nginx.conf")).match(/(?<=^ +server )api-\d\.internal(?=:3000 )/gm);
    const hosts = services["nginx"]?.extra_hosts ?? [];
    const addresses = APIS.map((name) => {
      const { networks, stop_grace_period: grace, environment, healthcheck } = services[name] ?? {};
      const delay = Number(environment?.["SHUTDOWN_DELAY_SECONDS"]);
      expect(Number.parseInt(grace ?? "0", 10)).toBeGreaterThanOrEqual(delay + STOP_SECONDS);
      expect(healthcheck?.test.join(" ")).toContain("127.0.0.1:9464/health/ready");
      return Array.isArray(networks) ? "none" : networks?.["outside"]?.ipv4_address;
    });
    expect(hosts).toEqual((upstreams ?? []).map((host, index) => `${host}:${addresses[index]}`));
    expect(hosts).toHaveLength(2);
  });
});

/** Reads the column "Plan" of the sizing table in MiB, by the first column. */
async function readPlan(): Promise<Record<string, number>> {
  const [, section = ""] = (await read("docs/operating.md")).split("\n## Size\n");
  const rows = section.matchAll(/^\| ([^|]+) \| [^|]+ \| [^|]*?(\d+) MiB[^|]* \|$/gm);
  return Object.fromEntries([...rows].map(([, name = "", size]) => [name, Number(size)]));
}

test("containers and units have the memory limits planned in docs/operating.md", async () => {
  const plan = await readPlan();
  const limits = { api: plan["API, memory"], jobs: plan["Job runner"], sync: plan["catalog-sync"] };
  expect(limits).toEqual({ api: 512, jobs: 512, sync: 512 });
  const { services } = await readCompose();
  const ofServices = Object.fromEntries(
    [...APIS, "jobs", "catalog-sync"].map((name) => [name, services[name]?.mem_limit]),
  );
  expect(ofServices).toEqual({
    "api-1": `${limits.api}m`,
    "api-2": `${limits.api}m`,
    jobs: `${limits.jobs}m`,
    "catalog-sync": `${limits.sync}m`,
  });
  const readLimit = async (unit: string) =>
    /^MemoryMax=(.+)$/m.exec(await read(`deploy/systemd/${unit}.service`))?.[1];
  expect([
    await readLimit("ulr-api@"),
    await readLimit("ulr-jobs"),
    await readLimit("ulr-catalog-sync"),
  ]).toEqual([`${limits.api}M`, `${limits.jobs}M`, `${limits.sync}M`]);
});

describe("deploy/systemd", () => {
  const readUnits = async () => {
    const paths = await listFiles("deploy/systemd/*.service");
    return Promise.all(paths.map(async (path) => ({ path, text: await read(path) })));
  };

  test("units start existing programs, all with the same sandbox settings", async () => {
    const units = await readUnits();
    expect(units).toHaveLength(4);
    for (const { path, text } of units) {
      const [, main = ""] = /^ExecStart=\/usr\/local\/bin\/bun (\S+)/m.exec(text) ?? [];
      expect([path, existsSync(join(ROOT, main))]).toEqual([path, true]);
    }
    const restrictions = units.map(({ text }) => /^DynamicUser[^[]+/m.exec(text)?.[0].trim());
    expect(new Set(restrictions).size).toBe(1);
  });

  test("the environment file sets known variables, and a shutdown delay within the units' stop timeout", async () => {
    const text = await read("deploy/systemd/ulr.env.example");
    const names = [...text.matchAll(/^#?([A-Z0-9_]+)=/gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !isVariable(name))).toEqual([]);
    const delay = Number(/^SHUTDOWN_DELAY_SECONDS=(\d+)$/m.exec(text)?.[1]);
    for (const { text: unit } of await readUnits()) {
      if (!unit.includes("Restart=always")) continue;
      const timeout = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
      expect(timeout).toBeGreaterThanOrEqual(delay + STOP_SECONDS);
    }
  });
});
