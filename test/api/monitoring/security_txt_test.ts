import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";

const NOW = Date.parse("2026-11-22T10:11:12.345Z");
const PATH = "/.well-known/security.txt";

async function readFields(config: object): Promise<[string, string][]> {
  await using api = await openTestApp({
    config: { publicUrl: "https://ulr.example", ...config },
    now: () => NOW,
  });
  const response = await api.request(PATH);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.map((line) => /^([A-Za-z-]+): (\S+)$/.exec(line)?.slice(1) as [string, string]);
}

test("security.txt contains the operator's contact and expires within a year", async () => {
  expect(await readFields({ securityContact: "mailto:security@ulr.example" })).toEqual([
    ["Contact", "mailto:security@ulr.example"],
    ["Expires", "2027-05-21T00:00:00.000Z"],
    ["Preferred-Languages", "en"],
    ["Canonical", `https://ulr.example${PATH}`],
    ["Policy", "https://ulr.example/security-policy"],
  ]);
});

test("without a contact, security.txt refers to /security-policy, which serves SECURITY.md", async () => {
  const fields = new Map(await readFields({ securityContact: null }));
  expect(fields.get("Contact")).toBe("https://ulr.example/security-policy");
  await using api = await openTestApp();
  const response = await api.request("/security-policy");
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await response.text()).toBe(await Bun.file(new URL("../../../SECURITY.md", import.meta.url)).text());
});
