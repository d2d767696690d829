/** The README's overview of the API lists exactly the endpoints under /api/v1. */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { listOperations, readDocument } from "../helpers/http/openapi.ts";

const PREFIX = "/api/v1";
/** The path that `…` stands for in the table of definitions. */
const DEFINITION = "/definitions/{type}/{name}";
/** Suffixes of an endpoint's alternative formats, which share the endpoint's line. */
const FORM = /\.(csv|parquet|md|yaml)$/;

test("the README lists exactly the API's endpoints", async () => {
  const readme = await Bun.file(new URL("../../README.md", import.meta.url)).text();
  const listed = [...readme.matchAll(/`(GET|POST|PUT|PATCH|DELETE) ([/…][^` ]*)`/g)].map(
    ([, method, path = ""]) => `${method} ${PREFIX}${path.replace("…", DEFINITION)}`,
  );
  const endpoints = listed.flatMap((name) =>
    name.includes("{dataset}")
      ? EXPORT_DATASET_NAMES.map((dataset) => name.replace("{dataset}", dataset))
      : [name],
  );
  await using api = await openTestApp();
  const operations = listOperations(await readDocument(api))
    .map(({ name }) => name)
    .filter((name) => !FORM.test(name));
  expect(endpoints.toSorted()).toEqual(operations.filter((name) => name.includes(` ${PREFIX}/`)).toSorted());
});
