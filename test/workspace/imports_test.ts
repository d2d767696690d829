/** The direction of imports, and the actions that only entry points may take. */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

/** The other folders that a folder may import, by folder. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  sql: ["shared"],
  api: ["shared", "sql"],
  jobs: ["shared", "sql"],
  "catalog-sync": ["shared", "sql"],
  deploy: ["shared", "sql"],
  test: ["shared", "sql", "api", "jobs", "catalog-sync", "deploy"],
};

/** Packages that a folder must not import, by folder. */
const FORBIDDEN_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  shared: ["elysia", "@elysiajs/", "postgres", "pg-boss"],
  sql: ["elysia", "@elysiajs/"],
  deploy: ["elysia", "@elysiajs/"],
  jobs: ["elysia", "@elysiajs/"],
  "catalog-sync": ["elysia", "@elysiajs/"],
};

interface SourceFile {
  path: string;
  folder: string;
  text: string;
}

const transpiler = new Bun.Transpiler({ loader: "ts" });

async function readSources(): Promise<SourceFile[]> {
  const paths = await listFiles(`{${Object.keys(ALLOWED).join(",")}}/**/*.ts`);
  return Promise.all(
    paths.map(async (path) => ({
      path,
      folder: path.split("/")[0] ?? "",
      text: await Bun.file(join(ROOT, path)).text(),
    })),
  );
}

/** Returns the specifiers of all imports. Type imports are included, which the transpiler omits. */
function listSpecifiers(text: string): string[] {
  const found = [...text.matchAll(/^(?:import|export)\b[^"'`;]*?\bfrom "([^"]+)"/gm)].map(
    (match) => match[1] ?? "",
  );
  return [...new Set([...found, ...transpiler.scanImports(text).map((item) => item.path)])];
}

const sources = await readSources();

test("folders import only from the folders allowed to them", () => {
  const offences = sources.flatMap(({ path, folder, text }) =>
    listSpecifiers(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => join(dirname(path), specifier).split("/")[0] ?? "")
      .filter((target) => target !== folder && !ALLOWED[folder]?.includes(target))
      .map((target) => `${path} imports ${target}/`),
  );
  expect(offences).toEqual([]);
});

/** Returns the relative imports of a file. Type imports count, because a reader of the file must read the imported one. */
function listImports({ path, text }: SourceFile): string[] {
  const relative = listSpecifiers(text).filter((specifier) => specifier.startsWith("."));
  return relative.map((specifier) => join(dirname(path), specifier));
}

function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (way.includes(path) || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return circles;
}

test("there are no import cycles", () => {
  expect(findCircles(new Map(sources.map((source) => [source.path, listImports(source)])))).toEqual([]);
});

const MAX_FLOORS = 7;

/** Compares folders up to the second level below api/. A folder's layer is one above the highest layer that it imports. */
test("folders of api/ import each other without cycles, in at most seven layers", () => {
  const folderOf = (path: string) => dirname(path).split("/").slice(0, 3).join("/");
  const files = Map.groupBy(
    sources.filter(({ folder }) => folder === "api"),
    ({ path }) => folderOf(path),
  );
  const imports = new Map(
    [...files].map(([folder, own]) => {
      const targets = new Set(own.flatMap(listImports).map(folderOf));
      return [folder, [...targets].filter((target) => target !== folder && files.has(target))];
    }),
  );
  expect(findCircles(imports)).toEqual([]);
  const stacks = new Map<string, string[]>();
  const stackOf = (folder: string): string[] => {
    const below = (imports.get(folder) ?? []).map((target) => stacks.get(target) ?? stackOf(target));
    const stack = [folder, ...(below.toSorted((a, b) => b.length - a.length)[0] ?? [])];
    stacks.set(folder, stack);
    return stack;
  };
  const high = [...imports.keys()].map(stackOf).filter((stack) => stack.length > MAX_FLOORS);
  expect(high.map((stack) => stack.join(" above "))).toEqual([]);
});

/** A file that only one folder uses belongs in that folder. */
test("every file of shared/ is used by more than one folder", () => {
  const usersOf = new Map<string, Set<string>>();
  for (const { path, folder, text } of sources.filter((source) => source.folder !== "test")) {
    for (const specifier of listSpecifiers(text).filter((name) => name.startsWith("."))) {
      const target = join(dirname(path), specifier);
      const user = folder === "shared" ? "shared" : dirname(path);
      usersOf.set(target, (usersOf.get(target) ?? new Set()).add(user));
    }
  }
  const lonely = [...usersOf].filter(
    ([path, users]) => path.startsWith("shared/") && users.size === 1 && !users.has("shared"),
  );
  expect(lonely.map(([path, users]) => `${path} is used only in ${[...users].join()}`)).toEqual([]);
});

test("relative imports have an extension and stay inside the repository", () => {
  const offences = sources.flatMap(({ path, text }) =>
    listSpecifiers(text)
      .filter((specifier) => specifier.startsWith(".") || specifier.startsWith("/"))
      .filter(
        (specifier) => !/\.(ts|json)$/.test(specifier) || join(dirname(path), specifier).startsWith(".."),
      )
      .map((specifier) => `${path}: "${specifier}"`),
  );
  expect(offences).toEqual([]);
});

test("folders do not import packages that are forbidden to them", () => {
  const offences = sources.flatMap(({ path, folder, text }) =>
    listSpecifiers(text)
      .filter((specifier) =>
        FORBIDDEN_PACKAGES[folder]?.some((name) => `${specifier}/`.startsWith(name.replace(/\/?$/, "/"))),
      )
      .map((specifier) => `${path} imports ${specifier}`),
  );
  expect(offences).toEqual([]);
});

/** Code with an effect on the whole process, which only the entry point may contain. */
const ENTRY_ONLY: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["reads the environment", /\b(?:process|Bun|import\.meta)\.env\b|=\s*process\b(?!\.)/],
  ["installs signal handlers", /\bprocess\.(?:on|once)\(/],
  ["ends the process", /\bprocess\.(?:exit|abort)\(|\bprocess\.exitCode\b/],
];

test("only entry points read the environment, install signal handlers and exit", () => {
  const offences = sources
    .filter(({ path, folder }) => folder !== "test" && !path.endsWith("/main.ts"))
    .flatMap(({ path, text }) =>
      ENTRY_ONLY.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${path} ${what}`),
    );
  expect(offences).toEqual([]);
});

/**
 * Files of operations that begin a writing transaction. These transactions take turns, so that waiting ones do not use up the
 * connections.
 */
const BEGIN_WRITES = [
  "api/definitions/batch/store_batch.ts",
  "api/definitions/find_writable.ts",
  "api/definitions/record_execution.ts",
  "api/turns.ts",
];

test("only the listed files of api/ begin writing transactions", () => {
  const begin = sources.filter(({ path, text }) => {
    const isOperation = path.startsWith("api/") && !path.startsWith("api/admin/");
    return isOperation && /\.begin\((?!\)|"read only")|\bbeginAndRetry\(/.test(text);
  });
  expect(begin.map(({ path }) => path).toSorted()).toEqual(BEGIN_WRITES);
});

/**
 * Ways to keep connections open. A kept connection may be lost without notice, and a request on it then waits for many
 * minutes.
 */
const KEEPS_CONNECTIONS: readonly (readonly [what: string, keeps: (text: string) => boolean])[] = [
  ["calls fetch", (text) => /(?<!async )(?<![.\w])fetch\(/.test(text)],
  ["uses Bun's S3 client", (text) => /\bS3Client\b|\bBun\.s3\b/.test(text)],
  [
    "sends requests by node:http with an agent",
    (text) => /from "node:https?"/.test(text) && !/\bagent: false\b/.test(text),
  ],
];

test("requests to other servers keep no connection alive, and only http_fetch.ts calls fetch", () => {
  const offences = sources
    .filter(({ path, folder }) => folder !== "test" && path !== "shared/network/http_fetch.ts")
    .flatMap(({ path, text }) =>
      KEEPS_CONNECTIONS.filter(([, keeps]) => keeps(text)).map(([what]) => `${path} ${what}`),
    );
  expect(offences).toEqual([]);
});
