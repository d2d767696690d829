import { expect, test } from "bun:test";
import { READY_JOB } from "../../../api/exports/export_job.ts";

test("the documented job's file name has the format that build_org_export_test.ts expects of real builds", () => {
  expect(READY_JOB.artifact.fileName).toBe("demo-export-2026-11-20T100000Z.zip");
});
