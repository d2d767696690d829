/** Links between the repository's documents, and the pages that comments cite. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFiles, ROOT } from "./source_files.ts";

const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;

const paths = ["*.md", "docs/**/*.md"].flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: ROOT })]);
const documents = await Promise.all(
  paths.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
);

/** Returns the anchors that GitHub generates from a document's headings. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase());
  return headings.map((heading) => heading.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));
}

/** Returns whether a relative link leads to an existing file and heading. */
async function isGood(from: string, link: string): Promise<boolean> {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? join(ROOT, from) : join(ROOT, dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(await Bun.file(file).text()).includes(anchor);
}

test("relative links in documents lead to existing files and headings", async () => {
  const broken: string[] = [];
  for (const { path, text } of documents) {
    for (const [, link = ""] of text.matchAll(LINK)) {
      if (!/^[a-z]+:/.test(link) && !(await isGood(path, link))) broken.push(`${path}: ${link}`);
    }
  }
  expect(documents.length).toBeGreaterThan(3);
  expect(broken).toEqual([]);
});

test("file paths in code spans of documents exist", async () => {
  const missing = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:api|catalog-sync|deploy|docs|jobs|shared|sql|test)\/[\w./-]*)`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !existsSync(join(ROOT, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

/** A citation: `docs/contract.md`, or `docs/contract.md, Limits` if a comment cites a section. */
const CITATION = /docs\/([\w-]+\.md)(?:, ([A-Z][a-z]+(?: [a-z]+)*)(?=[.:)]))?/g;

test("pages and sections of docs/ cited in comments exist", async () => {
  const code = await listFiles("{api,catalog-sync,deploy,jobs,shared,sql,test}/**/*.{ts,sql}");
  const pages = new Map(documents.map(({ path, text }) => [path, anchorsOf(text)]));
  const unknown: string[] = [];
  for (const path of code) {
    const lines = (await Bun.file(join(ROOT, path)).text()).split("\n");
    const comments = lines.filter((line) => /^\s*(?:\/\*\*|\*|\/\/|--)/.test(line)).join("\n");
    for (const [cited, page = "", section] of comments.matchAll(CITATION)) {
      const anchors = pages.get(`docs/${page}`);
      const isThere = section === undefined || anchors?.includes(section.toLowerCase().replaceAll(" ", "-"));
      if (!anchors || !isThere) unknown.push(`${path}: ${cited}`);
    }
  }
  expect(unknown).toEqual([]);
});
