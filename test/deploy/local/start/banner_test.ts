/** The banner that `bun run start` prints when the stack is ready. */
import { expect, test } from "bun:test";
import { renderBanner } from "../../../../deploy/local/start.ts";

test("renderBanner() omits facts that are null", () => {
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
