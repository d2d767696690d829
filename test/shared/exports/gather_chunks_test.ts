import { expect, test } from "bun:test";
import { gatherChunks } from "../../../shared/exports/gather_chunks.ts";

const LARGE = 256 * 1024;

async function* chunksOf(sizes: readonly number[], onEnd: () => void = () => {}) {
  try {
    for (const [index, size] of sizes.entries()) yield new Uint8Array(size).fill(index);
  } finally {
    onEnd();
  }
}

async function sizesOf(chunks: AsyncIterable<Uint8Array>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const { length } of chunks) sizes.push(length);
  return sizes;
}

test("gatherChunks() joins small chunks, and the last chunk contains the remaining bytes", async () => {
  expect(await sizesOf(gatherChunks(chunksOf([1, LARGE - 2, 1, 5, LARGE + 3, LARGE, 7])))).toEqual([
    LARGE,
    LARGE + 8,
    LARGE,
    7,
  ]);
  expect(await sizesOf(gatherChunks(chunksOf([])))).toEqual([]);
  expect(await sizesOf(gatherChunks(chunksOf([0, 0])))).toEqual([]);
});

test("gatherChunks() keeps the bytes in order", async () => {
  const bytes: number[] = [];
  for await (const chunk of gatherChunks(chunksOf([2, 1, 3]))) bytes.push(...chunk);
  expect(bytes).toEqual([0, 0, 1, 2, 2, 2]);
});

test("gatherChunks() closes the content when its consumer stops, and rethrows errors from the content", async () => {
  let ended = false;
  for await (const _ of gatherChunks(
    chunksOf([LARGE, LARGE], () => {
      ended = true;
    }),
  ))
    break;
  expect(ended).toBe(true);
  async function* failing(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(1);
    throw new Error("no more");
  }
  await expect(sizesOf(gatherChunks(failing()))).rejects.toThrow("no more");
});
