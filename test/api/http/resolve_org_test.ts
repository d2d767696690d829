import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";

async function openOrgApp(): Promise<TestApp> {
  const api: TestApp = await openTestApp({ routes: probeRoutes({ sql: () => api.deps.sql }) });
  return api;
}

async function ask(api: TestApp, key: string, slug?: string): Promise<unknown> {
  const response = await api.request("/api/v1/org", {
    key,
    headers: slug === undefined ? {} : { "x-org-slug": slug },
  });
  if (response.status === 200) return response.json();
  const { error } = (await response.json()) as {
    error: { code: string; message: string; details?: unknown };
  };
  return [response.status, error.code, error.message, error.details];
}

const denied = (message: string) => [403, "ORG_ACCESS_DENIED", message, undefined];
const NO_ORGANIZATION = "You are not a member of this organization.";
const notMember = (slug: string) => {
  const organization = /^[a-z0-9-]{1,63}$/.test(slug) ? `organization "${slug}"` : "that organization";
  return denied(
    `You are not a member of ${organization}, or it does not exist. Name one of your organizations.`,
  );
};

describe("the organization of a request", () => {
  test("is the caller's personal organization by default", async () => {
    await using api = await openOrgApp();
    const { key, personalOrg } = await api.make.person();
    expect(await ask(api, key)).toEqual({
      orgId: personalOrg.id,
      slug: personalOrg.slug,
      name: personalOrg.name,
      isPersonal: true,
      role: "owner",
      tier: "free",
      requireSecondFactor: false,
      deletesAt: null,
    });
  });

  test("is never another user's personal organization", async () => {
    await using api = await openOrgApp();
    const host = await api.make.person();
    const guest = await api.make.person({ org: host.personalOrg, role: "viewer" });
    expect(await ask(api, guest.key)).toMatchObject({ orgId: guest.personalOrg.id });
  });

  test("is the organization in X-Org-Slug, with the caller's role and subscription there", async () => {
    await using api = await openOrgApp();
    const { key, org } = await api.make.person({ role: "publisher", tier: "plus" });
    expect(await ask(api, key, org.slug)).toMatchObject({ orgId: org.id, role: "publisher", tier: "plus" });
  });

  test("is the organization of a bound key, with or without a matching X-Org-Slug", async () => {
    await using api = await openOrgApp();
    const { user, org } = await api.make.person();
    const { key } = await api.make.key({ userId: user.id, orgId: org.id });
    for (const slug of [undefined, org.slug])
      expect(await ask(api, key, slug)).toMatchObject({ orgId: org.id });
  });
});

describe("ORG_ACCESS_DENIED", () => {
  test("is the same for a stranger's organization, a missing organization and an invalid slug", async () => {
    await using api = await openOrgApp();
    const { key, org } = await api.make.person();
    const stranger = await api.make.person();
    const slugs = [
      stranger.org.slug,
      "no-such-org",
      "",
      " ",
      org.slug.toUpperCase(),
      "a'b",
      "%",
      "x".repeat(5000),
    ];
    for (const slug of slugs) expect([slug, await ask(api, key, slug)]).toEqual([slug, notMember(slug)]);
  });

  test("refuses a bound key for another organization of its owner", async () => {
    await using api = await openOrgApp();
    const { user, org, personalOrg } = await api.make.person();
    const { key } = await api.make.key({ userId: user.id, orgId: org.id });
    expect(await ask(api, key, personalOrg.slug)).toEqual(
      denied(`This API key works only for organization "${org.slug}". Name no other organization.`),
    );
  });

  test("refuses a bound key after its owner has left the organization", async () => {
    await using api = await openOrgApp();
    const { user, org } = await api.make.person();
    const { key } = await api.make.key({ userId: user.id, orgId: org.id });
    await api.db.sql`delete from organization_members where org_id = ${org.id}`;
    expect(await ask(api, key)).toEqual(denied(NO_ORGANIZATION));
  });

  test("refuses a caller without a personal organization who names no organization", async () => {
    await using api = await openOrgApp();
    const user = await api.make.user();
    const { key } = await api.make.key({ userId: user.id });
    expect(await ask(api, key)).toEqual(denied(NO_ORGANIZATION));
  });
});
