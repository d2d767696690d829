/** Lists every page, and fills a database with the data that the pages show. */
import type { Page } from "playwright-core";
import { insertPasskey, insertTotpFactor } from "../../../sql/accounts/second_factors.ts";
import { type Account, makeAccount } from "../../helpers/accounts/accounts.ts";
import { makeInvitation } from "../../helpers/accounts/organization.ts";
import { seedSmallDemo } from "../../helpers/demo.ts";
import { loadBundledCatalog } from "../../helpers/models/catalog.ts";
import { makeJobs } from "../busy_place.ts";
import type { Dashboard, Member } from "../dashboard.ts";

const AGENT = "/definitions/agent/@demo/code-reviewer";
const DRAFT = `${AGENT}@2.0.0`;

/** The demo's owner, and the ids in the URLs of their pages. */
export interface Scene {
  owner: Member;
  projectId: string;
  keyId: string;
  sessionId: string;
  webhookId: string;
  memberId: string;
  factorId: string;
  invitationToken: string;
  /** A user with two second factors: an authenticator app and a passkey. */
  careful: Account;
  /** The names of two models, `provider/id`. */
  models: readonly string[];
}

export interface TestedPage {
  /** The page's name in the test's name. */
  name: string;
  /** The page's route; null for a URL without a route. */
  route: string | null;
  path(scene: Scene): string;
  /** True for visitors without a session. */
  isAnonymous?: true;
  /** Runs on the page before it is checked. */
  act?: (page: Page, scene: Scene) => Promise<void>;
}

/**
 * Fills a database with the demo, models, jobs in every state except queued, an API key, a webhook, an invitation and second
 * factors.
 */
export async function makeScene(dashboard: Dashboard): Promise<Scene> {
  const { db, make, api } = dashboard;
  await loadBundledCatalog(db.sql);
  await seedSmallDemo(db.sql);
  const [user] = await db.sql<Member["user"][]>`
    select id, username, email from users where username = 'demo-owner'`;
  const [org] = await db.sql<Member["org"][]>`select id, slug, name from organizations where slug = 'demo'`;
  const [project] = await db.sql<{ id: string }[]>`select id from projects where org_id = ${org?.id ?? null}`;
  if (!user || !org || !project) throw new Error("Cannot find the demo");
  const { token } = await make.session({ userId: user.id });
  const { id: sessionId } = await make.session({ userId: user.id, userAgent: "curl/8" });
  const { id: keyId } = await make.key({ userId: user.id, name: "Nightly export" });
  const owner = { user, org, token };
  await makeJobs(dashboard, owner);
  const post = async (path: string, body: unknown): Promise<{ data: { id: string } }> => {
    const response = await fetch(`${api.url}/api/v1/orgs/demo/webhooks${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Cannot create a webhook: ${response.status} ${await response.text()}`);
    return (await response.json()) as { data: { id: string } };
  };
  const { data } = await post("", { url: "https://ci.example.com/hook", types: ["export.ready"] });
  await post(`/${data.id}/test`, {});
  const [publisher] = await db.sql<[{ id: string }]>`select id from users where username = 'demo-publisher'`;
  const invited = {
    orgId: org.id,
    email: "guest@example.com",
    role: "publisher",
    invitedBy: user.id,
  } as const;
  const invitation = await makeInvitation(dashboard, invited);
  const models = await db.sql<{ name: string }[]>`
    select provider || '/' || model_id as name from models where provider = 'anthropic' order by model_id limit 2`;
  return {
    owner,
    models: models.map(({ name }) => name),
    projectId: project.id,
    keyId,
    sessionId,
    webhookId: data.id,
    memberId: publisher.id,
    factorId: await addFactor(dashboard, owner),
    invitationToken: invitation.token,
    careful: await makeCareful(dashboard),
  };
}

/** Adds an authenticator app and marks the user's sessions as verified with it. */
async function addFactor({ db: { sql } }: Dashboard, { user }: Member): Promise<string> {
  const factor = { userId: user.id, name: "Phone", secret: Buffer.alloc(20, 1), lastStep: 0 };
  const { id } = await insertTotpFactor(sql, factor);
  await sql`update sessions set factor_at = now() where user_id = ${user.id}`;
  return id;
}

async function makeCareful(dashboard: Dashboard): Promise<Account> {
  const { sql } = dashboard.db;
  const account = await makeAccount(dashboard);
  const secret = Buffer.alloc(20, 2);
  await insertTotpFactor(sql, { userId: account.id, name: "Phone", secret, lastStep: 0 });
  const keys = { credentialId: secret, publicKey: secret, signCount: 0, transports: [] };
  await insertPasskey(sql, { userId: account.id, name: "Laptop", ...keys });
  return account;
}

/** Submits the correct password and waits for the second step. */
async function enterPassword(page: Page, { careful }: Scene): Promise<void> {
  await page.getByLabel("Email").fill(careful.email);
  await page.getByLabel("Password").fill(careful.password);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
}

function at(name: string, route: string | null, path: string | TestedPage["path"]): TestedPage {
  return { name, route, path: typeof path === "string" ? () => path : path };
}

/** Returns the entry for a tab of a definition's page. */
function ofDefinition(name: string, tab: string, path: string): TestedPage {
  return at(name, `/definitions/:type/:org/:name${tab}`, `${path}${tab}`);
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

const HOME: readonly TestedPage[] = [
  { ...at("home of a visitor", "/", "/"), isAnonymous: true },
  at("home of a member", "/", "/"),
  { ...at("sign-in", "/dashboard/sign-in", "/dashboard/sign-in"), isAnonymous: true },
  { ...at("sign-up", "/sign-up", "/sign-up"), isAnonymous: true },
  { ...at("confirmation of a sign-up", "/sign-up/confirm", "/sign-up/confirm?token=x"), isAnonymous: true },
  { ...at("new address", "/confirm-email", "/confirm-email?token=x"), isAnonymous: true },
  { ...at("forgotten password", "/forgot-password", "/forgot-password"), isAnonymous: true },
  { ...at("mail on its way", "/forgot-password", "/forgot-password?sent"), isAnonymous: true },
  { ...at("new password", "/reset-password", "/reset-password?token=x"), isAnonymous: true },
  {
    ...at("failed sign-in", "/dashboard/sign-in", "/dashboard/sign-in?next=/dashboard/exports"),
    isAnonymous: true,
    async act(page) {
      await page.getByLabel("Email").fill("nobody@example.com");
      await page.getByLabel("Password").fill("wrong");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "Wrong email or password." }).waitFor();
    },
  },
  {
    ...at("second step of a sign-in", "/dashboard/sign-in", "/dashboard/sign-in?next=/models"),
    isAnonymous: true,
    act: enterPassword,
  },
  {
    ...at("wrong second factor", "/dashboard/sign-in", "/dashboard/sign-in?next=/models"),
    isAnonymous: true,
    async act(page, scene) {
      await enterPassword(page, scene);
      await page.getByLabel("Code from your authenticator app").fill("000000");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "The second factor is wrong" }).waitFor();
    },
  },
  at("unknown address", null, "/nowhere"),
  at("exports", "/dashboard/exports", "/dashboard/exports"),
  at("list of exports", "/dashboard/exports/jobs", "/dashboard/exports/jobs"),
  at(
    "project",
    "/dashboard/exports/projects/:project",
    ({ projectId }) => `/dashboard/exports/projects/${projectId}`,
  ),
];

const DEFINITIONS: readonly TestedPage[] = [
  at("definitions", "/definitions", "/definitions"),
  at("filtered definitions", "/definitions", "/definitions?type=agent&search=review"),
  { ...at("definitions of a visitor", "/definitions", "/definitions?limit=2"), isAnonymous: true },
  ofDefinition("definition", "", AGENT),
  ofDefinition("draft", "", DRAFT),
  ofDefinition("deprecated definition", "", "/definitions/agent/@demo/style-fixer@1.0.0"),
  ofDefinition("YAML", "/yaml", AGENT),
  ofDefinition("versions", "/versions", AGENT),
  ofDefinition("comparison of versions", "/compare", AGENT),
  ofDefinition("dependencies", "/dependencies", "/definitions/workflow/@demo/release-readiness"),
  ofDefinition("dependents", "/dependents", AGENT),
  ofDefinition("forks", "/forks", AGENT),
  ofDefinition("usage", "/usage", AGENT),
  at("form for a new definition", "/definitions/new", "/definitions/new"),
  {
    ...at("document with errors", "/definitions/new", "/definitions/new"),
    async act(page) {
      await page.getByLabel("YAML").fill("agent:\n  interface:\n    name: 1\n");
      await press(page, "Check");
      await page.getByRole("alert").first().waitFor();
    },
  },
  ofDefinition("draft that is edited", "/edit", DRAFT),
  ofDefinition("publishing", "/publish", DRAFT),
  ofDefinition("deletion", "/delete", DRAFT),
  ofDefinition("deprecation", "/deprecate", `${AGENT}@1.0.0`),
  ofDefinition("archiving", "/archive", `${AGENT}@1.1.0`),
  ofDefinition("fork", "/fork", AGENT),
  ofDefinition("retranslation", "/retranslate", `${AGENT}@1.2.0`),
  ofDefinition("upgrade", "/upgrade", `${AGENT}@1.2.0`),
];

const MODELS: readonly TestedPage[] = [
  at("models", "/models", "/models"),
  at("filtered models", "/models", "/models?provider=anthropic&search=claude"),
  at(
    "comparison of models",
    "/models/compare",
    ({ models: [one, two] }) => `/models/compare?model=${one}&model=${two}`,
  ),
  at("model", "/models/:provider/*", ({ models: [one] }) => `/models/${one}`),
];

const SETTINGS: readonly TestedPage[] = [
  at("profile", "/settings/profile", "/settings/profile"),
  at("own organizations", "/settings/organizations", "/settings/organizations"),
  at("API keys", "/settings/keys", "/settings/keys"),
  {
    ...at("created API key", "/settings/keys", "/settings/keys"),
    async act(page) {
      await page.getByLabel("Name").fill("Build");
      await press(page, "Create key");
      await page.getByRole("heading", { name: "API key created" }).waitFor();
    },
  },
  at("revocation", "/settings/keys/:id/revoke", ({ keyId }) => `/settings/keys/${keyId}/revoke`),
  at("second factors", "/settings/second-factor", "/settings/second-factor"),
  at(
    "removal of a second factor",
    "/settings/second-factor/:id/remove",
    ({ factorId }) => `/settings/second-factor/${factorId}/remove`,
  ),
  at("sessions", "/settings/sessions", "/settings/sessions"),
  at(
    "end of a session",
    "/settings/sessions/:id/end",
    ({ sessionId }) => `/settings/sessions/${sessionId}/end`,
  ),
  at("end of other sessions", "/settings/sessions/end-others", "/settings/sessions/end-others"),
];

const ORGANIZATIONS: readonly TestedPage[] = [
  at("organization", "/orgs/:slug", "/orgs/demo"),
  { ...at("organization for visitors", "/orgs/:slug", "/orgs/demo"), isAnonymous: true },
  at("members", "/orgs/:slug/members", "/orgs/demo/members"),
  at("member", "/orgs/:slug/members/:userId", ({ memberId }) => `/orgs/demo/members/${memberId}`),
  at(
    "removal of a member",
    "/orgs/:slug/members/:userId/remove",
    ({ memberId }) => `/orgs/demo/members/${memberId}/remove`,
  ),
  {
    ...at("invitation", "/invitation", ({ invitationToken }) => `/invitation?token=${invitationToken}`),
    isAnonymous: true,
  },
  at("projects", "/orgs/:slug/projects", "/orgs/demo/projects"),
  at("project", "/orgs/:slug/projects/:project", ({ projectId }) => `/orgs/demo/projects/${projectId}`),
  at("end of an organization", "/orgs/:slug/end", "/orgs/demo/end"),
  at("usage of an organization", "/orgs/:slug/usage", "/orgs/demo/usage"),
  at("audit log", "/orgs/:slug/audit", "/orgs/demo/audit"),
  at("edit of an organization", "/orgs/:slug/edit", "/orgs/demo/edit"),
  at("webhooks", "/orgs/:slug/webhooks", "/orgs/demo/webhooks"),
  at("webhook", "/orgs/:slug/webhooks/:id", ({ webhookId }) => `/orgs/demo/webhooks/${webhookId}`),
  at(
    "deletion of a webhook",
    "/orgs/:slug/webhooks/:id/delete",
    ({ webhookId }) => `/orgs/demo/webhooks/${webhookId}/delete`,
  ),
];

export const TESTED_PAGES = [...HOME, ...DEFINITIONS, ...MODELS, ...SETTINGS, ...ORGANIZATIONS];
