import { expect, test } from "bun:test";
import { renderBanner } from "../../../deploy/local/banner.ts";

test("renderBanner() omits missing parts", () => {
  const facts = { took: "0.4 s", publicUrl: "http://localhost:3000" };
  expect(renderBanner({ ...facts, logDirectory: null, databaseUrlFile: null, credentials: null })).toBe(
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
  expect(
    renderBanner({
      ...facts,
      logDirectory: ".data/logs/",
      databaseUrlFile: ".data/database-url.txt",
      credentials: { path: ".data/demo-credentials.txt", text: "Key  ulr_x\n\nNote\n" },
    }),
  ).toContain("  Logs         .data/logs/\n\n  Key  ulr_x\n\n  Note\n\nCtrl-C");
});
