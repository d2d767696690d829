import { expect, test } from "bun:test";
import { nameDirectories } from "../../../jobs/org_export_file.ts";

test("names directories after the project and the start of its id, or the full id to avoid duplicates", () => {
  const ids = ["11111111-0000-4000-8000-00000000000a", "11111111-0000-4000-8000-00000000000b"] as const;
  const other = "22222222-0000-4000-8000-000000000000";
  const names = nameDirectories([
    { id: ids[0], name: "Shop" },
    { id: ids[1], name: "SHOP" },
    { id: other, name: "Shop" },
  ]);
  expect([...names]).toEqual([
    [ids[0], `Shop__${ids[0]}`],
    [ids[1], `SHOP__${ids[1]}`],
    [other, "Shop__22222222"],
  ]);
});
