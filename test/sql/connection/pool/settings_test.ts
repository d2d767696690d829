/** The settings of sessions. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";

test("sessions of requests and exports do not compile statements", async () => {
  await using app = await openTestApp();
  for (const sql of [app.deps.sql, app.deps.exportSql]) {
    const [row] = await sql`show jit`;
    expect(row?.["jit"]).toBe("off");
  }
});
