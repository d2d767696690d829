import { expect, test } from "bun:test";
import { runCommand, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("user update changes only the given fields", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const updated = await runJson(api.db.url, [
    ...["user", "update", "--user", user.username, "--name", "Ann", "--email", "ann@new.example"],
    ...["--bio", "About Ann", "--website", "https://ann.example", "--platform-role", "admin"],
  ]);
  expect(updated).toMatchObject({
    id: user.id,
    name: "Ann",
    email: "ann@new.example",
    platformRole: "admin",
  });
  const renamed = await runJson(api.db.url, ["user", "update", "--user", user.username, "--name", "Anne"]);
  expect(renamed).toMatchObject({ name: "Anne", email: "ann@new.example", platformRole: "admin" });
  const profile = await api.request(`/api/v1/users/${user.id}`);
  expect(await profile.json()).toMatchObject({
    data: { bio: "About Ann", websiteUrl: "https://ann.example" },
  });
  const other = await api.make.user();
  const taken = ["user", "update", "--user", other.username, "--email", "ANN@new.example", "--json"];
  const { exitCode, out } = await runCommand(api.db.url, taken);
  expect([exitCode, JSON.parse(out)]).toEqual([
    1,
    { error: { code: "FAILED", message: expect.stringContaining("Another user has the email") } },
  ]);
});
