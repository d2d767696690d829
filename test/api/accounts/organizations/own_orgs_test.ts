import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

async function get(api: TestApp, path: string, key?: string) {
  const response = await api.request(`/api/v1/orgs${path}`, key ? { key } : {});
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Creates a user with a personal organization and an organization with three members. */
async function makeTeam(api: TestApp) {
  const { user, key, org, personalOrg } = await api.make.person({ role: "publisher", tier: "plus" });
  const [boss, guest] = [
    await api.make.user({ username: "zoe", name: "Zoe" }),
    await api.make.user({ username: "al" }),
  ];
  await api.make.member({ orgId: org.id, userId: boss.id, role: "owner" });
  await api.make.member({ orgId: org.id, userId: guest.id, role: "publisher" });
  return { user, key, org, personalOrg, boss, guest };
}

describe("GET /orgs", () => {
  test("lists the caller's organizations by slug, with role, tier and number of members", async () => {
    await using api = await openTestApp();
    const { key, org, personalOrg } = await makeTeam(api);
    await api.make.person();
    const { status, body } = await get(api, "", key);
    const createdAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const organizations = [
      {
        ...org,
        isPersonal: false,
        role: "publisher",
        memberCount: 3,
        subscriptionTier: "plus",
        createdAt,
        deletesAt: null,
        requireSecondFactor: false,
      },
      {
        ...personalOrg,
        isPersonal: true,
        role: "owner",
        memberCount: 1,
        subscriptionTier: "free",
        createdAt,
        deletesAt: null,
        requireSecondFactor: false,
      },
    ].toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    expect([status, body]).toEqual([200, { data: { organizations } }]);
  });

  test("lists only a bound key's organization and returns 401 for anonymous callers", async () => {
    await using api = await openTestApp();
    const { user, org } = await makeTeam(api);
    const { key } = await api.make.key({ userId: user.id, orgId: org.id });
    expect((await get(api, "", key)).body).toMatchObject({ data: { organizations: [{ id: org.id }] } });
    expect((await get(api, "")).status).toBe(401);
  });
});

describe("GET /orgs/{slug}", () => {
  test("shows a member the organization with its description and website", async () => {
    await using api = await openTestApp();
    const { key, org } = await makeTeam(api);
    await api.db.sql`
      update organizations
      set description = 'We look', website_url = 'https://example.com'
      where id = ${org.id}`;
    expect(await get(api, `/${org.slug}`, key)).toEqual({
      status: 200,
      body: {
        data: {
          ...org,
          description: "We look",
          websiteUrl: "https://example.com",
          isPersonal: false,
          role: "publisher",
          memberCount: 3,
          subscriptionTier: "plus",
          createdAt: expect.any(String),
          deletesAt: null,
          requireSecondFactor: false,
        },
      },
    });
  });

  test.each(["", "/members", "/projects", "/usage"])(
    "%p: returns 401 without a credential, 403 for strangers and another organization's keys, 404 for an unknown slug",
    async (path) => {
      await using api = await openTestApp();
      const { user, org, personalOrg } = await makeTeam(api);
      const stranger = await api.make.person();
      const bound = await api.make.key({ userId: user.id, orgId: personalOrg.id });
      const refusal = async (slug: string, key?: string) => {
        const { status, body } = await get(api, `/${slug}${path}`, key);
        return [status, (body as { error: { code: string } }).error.code];
      };
      expect(await refusal(org.slug)).toEqual([401, "UNAUTHORIZED"]);
      expect(await refusal(org.slug, stranger.key)).toEqual([403, "ORG_ACCESS_DENIED"]);
      expect(await refusal(org.slug, bound.key)).toEqual([403, "ORG_ACCESS_DENIED"]);
      for (const slug of ["no-such-org", "Not a slug", "%25"]) {
        expect(await refusal(encodeURIComponent(slug), stranger.key)).toEqual([404, "ORG_NOT_FOUND"]);
      }
    },
  );
});

test("GET /orgs/{slug}/members sorts by role, then username, and omits email addresses", async () => {
  await using api = await openTestApp();
  const { key, org, user, boss, guest } = await makeTeam(api);
  const { status, body } = await get(api, `/${org.slug}/members`, key);
  const joinedAt = expect.stringMatching(/^\d{4}-.*Z$/);
  const member = (of: { id: string; username: string }, role: string, name: string | null = null) => ({
    userId: of.id,
    username: of.username,
    name,
    avatar: null,
    role,
    joinedAt,
  });
  expect([status, body]).toEqual([
    200,
    {
      data: {
        members: [
          member(boss, "owner", "Zoe"),
          ...[guest, user]
            .toSorted((a, b) => (a.username < b.username ? -1 : 1))
            .map((of) => member(of, "publisher")),
        ],
      },
    },
  ]);
});
