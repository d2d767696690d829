import { expect, test } from "bun:test";
import { renderBanner, toNotice } from "../../../deploy/local/terminal.ts";

test("renderBanner() omits missing parts", () => {
  const facts = {
    Dashboard: "http://localhost:3000/dashboard",
    API: "http://localhost:3000/api/v1",
    "Swagger UI": "http://localhost:3000/swagger",
  };
  expect(renderBanner("0.4 s", { ...facts, Database: null, Logs: null }, null)).toBe(
    [
      "Ready in 0.4 s",
      "",
      "  Dashboard    http://localhost:3000/dashboard",
      "  API          http://localhost:3000/api/v1",
      "  Swagger UI   http://localhost:3000/swagger",
      "",
      "Ctrl-C stops everything",
      "",
      "",
    ].join("\n"),
  );
  expect(renderBanner("0.4 s", { ...facts, Logs: ".data/logs/" }, "Key  ulr_x\n\nNote\n")).toContain(
    "  Logs         .data/logs/\n\n  Key  ulr_x\n\n  Note\n\nCtrl-C",
  );
});

test("toNotice() shows warnings and worse, shortly", () => {
  const line = { level: "error", process: "api", requestId: "r-1", message: "Cannot reach the database" };
  expect(toNotice("api", JSON.stringify(line))).toBe("api error: Cannot reach the database (request r-1)");
  expect(toNotice("api", JSON.stringify({ level: "warn", message: "slow" }))).toBe("api warn: slow");
  expect(toNotice("api", JSON.stringify({ ...line, level: "info" }))).toBe(null);
  expect(toNotice("api", '{"level":"error", cut')).toBe(null);
  expect(toNotice("api", "no JSON")).toBe(null);
});
