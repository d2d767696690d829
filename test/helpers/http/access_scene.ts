/** Creates two organizations, one of them on the free tier, every kind of caller, and all resources that requests need. */

import type { ExportJob } from "../../../api/exports/export_job.ts";
import type { DefinitionStatus, DefinitionVisibility } from "../../../shared/vocabulary.ts";
import { makeMailToken } from "../accounts/account_mail.ts";
import { type Account, hashCheaply, makeAccount } from "../accounts/accounts.ts";
import { makeInvitation } from "../accounts/organization.ts";
import { makeDefinition } from "../definitions/definitions.ts";
import { jobOf, postJob } from "../exports/export_job.ts";
import { documentSource, makeDocument, syncFrom } from "../models/catalog.ts";
import type { OrgRow, Person, ProjectRow } from "../postgres/factory.ts";
import { openTestRunner } from "../process/job_runner.ts";
import type { CallerName } from "./access_classes.ts";
import { openTestApp, type TestApp } from "./app.ts";

const MINUTE_MS = 60_000;
const PAST = "2026-01-01T00:00:00.000Z";

/** An organization and its resources. */
export interface Place {
  owner: Person;
  org: OrgRow;
  project: ProjectRow;
  /** An export job whose file can be downloaded. */
  readyJob: ExportJob;
}

/**
 * Returns a caller's user id and credential. A session is new each time, because the request may end it. Anonymous
 * callers have no credential.
 */
export type Credential = () => Promise<{ userId: string; key?: string }>;

export interface AccessScene extends AsyncDisposable {
  api: TestApp;
  /** A user with a password. */
  account: Account;
  /** Advances the app's clock by two minutes, stops it for its next 20 readings, and returns its time. */
  holdClock(): number;
  callers: Readonly<Record<CallerName, Credential>>;
  /** Returns the organization of a caller's request. The free member has a separate organization. */
  placeOf(caller: CallerName): Place;
}

/** Opens the scene, with rate limits too high to be reached. `await using` drops its database. */
export async function openAccessScene(): Promise<AccessScene> {
  let now = Date.now();
  let heldCalls = 0;
  const api = await openTestApp({
    // Advances the clock by a minute per reading, because the audit log records similar refusals only once a minute.
    now: () => {
      now += heldCalls > 0 ? 0 : MINUTE_MS;
      heldCalls -= 1;
      return now;
    },
    config: {
      exportJobsPerHour: 1000,
      rateLimitAnonymousPerMinute: 100_000,
      rateLimitUserPerMinute: 100_000,
      rateLimitLoginPerMinute: 1000,
    },
  });
  await syncFrom(api.db.sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
  const paid = await makePlace(api);
  const free = await makePlace(api);
  await setTier(api, free, "free");
  return {
    api,
    account: await makeAccount(api),
    holdClock() {
      now += 2 * MINUTE_MS;
      heldCalls = 20;
      return now;
    },
    callers: await makeCallers(api, paid, free),
    placeOf: (caller) => (caller === "freeMember" ? free : paid),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

async function makePlace(api: TestApp): Promise<Place> {
  const owner = await api.make.person({ role: "owner" });
  const { org } = owner;
  const project = await api.make.project({ orgId: org.id, ownerId: owner.user.id });
  await api.make.issue({ projectId: project.id });
  const readyJob = await jobOf(await postJob(api, owner));
  await using runner = await openTestRunner(api);
  await runner.build(readyJob.id);
  return { owner, org, project, readyJob };
}

async function setTier(api: TestApp, { org }: Place, tier: "free" | "pro"): Promise<void> {
  await api.db.sql`update organizations set subscription_tier = ${tier} where id = ${org.id}`;
}

/**
 * Returns columns of a session that was just verified with a second factor. Some rows give the session's user a factor.
 */
const proven = () => ({ factorAt: new Date().toISOString() });

async function makeCallers(api: TestApp, paid: Place, free: Place): Promise<AccessScene["callers"]> {
  const { org } = paid;
  const { make } = api;
  const publisher = await make.person({ org, role: "publisher" });
  const platformAdmin = await make.person({ tier: "free" });
  await api.db.sql`update users set platform_role = 'admin' where id = ${platformAdmin.user.id}`;
  const { user, personalOrg } = publisher;
  const of =
    ({ user, key }: Person): Credential =>
    async () => ({ userId: user.id, key });
  const publishersKey = async (options: Partial<Parameters<typeof make.key>[0]>): Promise<Credential> => {
    const { key } = await make.key({ userId: user.id, ...options });
    return async () => ({ userId: user.id, key });
  };
  const outsider = await make.person();
  const sessionOf =
    ({ user }: Person): Credential =>
    async () => ({ userId: user.id, key: (await make.session({ userId: user.id, ...proven() })).token });
  const session = async (columns: object = {}) => {
    const { token } = await make.session({ userId: user.id, ...proven(), ...columns });
    return { userId: user.id, key: token };
  };
  return {
    anonymous: async () => ({ userId: user.id }),
    outsider: of(outsider),
    freeMember: of(free.owner),
    viewer: of(await make.person({ org, role: "viewer" })),
    publisher: of(publisher),
    admin: of(await make.person({ org, role: "admin" })),
    owner: of(paid.owner),
    platformAdmin: of(platformAdmin),
    session,
    ownerSession: sessionOf(paid.owner),
    outsiderSession: sessionOf(outsider),
    automationKey: await publishersKey({ kind: "automation" }),
    systemKey: await publishersKey({ kind: "system" }),
    readKey: await publishersKey({ scope: "read" }),
    boundKey: await publishersKey({ orgId: org.id }),
    boundElsewhere: await publishersKey({ orgId: personalOrg.id }),
    revokedKey: await publishersKey({ revokedAt: PAST }),
    expiredKey: await publishersKey({ expiresAt: PAST }),
    unknownKey: async () => ({ userId: user.id, key: `ulr_${"0".repeat(43)}` }),
    endedSession: () => session({ revokedAt: PAST }),
  };
}

/** The circumstances of a request. */
export interface Occasion {
  scene: AccessScene;
  place: Place;
  /** The request's user; the publisher if the request has no credential. */
  userId: string;
  /** True if the request may change its subject. Reads and refused writes do not change it. */
  isChange: boolean;
}

/** Creates or prepares the subject of a request. Returns a name, id or token for the path or the body. */
export type Subject = (occasion: Occasion) => Promise<string>;

/** Returns a name that does not exist. */
export function freeName(): string {
  return `free-${crypto.randomUUID()}`;
}

export const newName: Subject = async () => freeName();
export const orgSlug: Subject = async ({ place }) => place.org.slug;
export const projectId: Subject = async ({ place }) => place.project.id;
export const projectSlug: Subject = async ({ place }) => place.project.slug;
export const userId: Subject = async ({ place }) => place.owner.user.id;
export const readyJobId: Subject = async ({ place }) => place.readyJob.id;

/** Returns a subject that creates an agent with one version, 1.0.0, and without runtime text. */
export function definition(status: DefinitionStatus, visibility: DefinitionVisibility): Subject {
  return sharedUnlessChanged(async ({ scene, place }) => {
    const name = freeName();
    await makeDefinition(scene.api.db.sql, place.owner, { name, status, visibility });
    return name;
  });
}

/** Like `definition`, but the subject returns the version's id instead of the agent's name. */
export function definitionId(status: DefinitionStatus, visibility: DefinitionVisibility): Subject {
  return sharedUnlessChanged(
    async ({ scene, place }) =>
      (await makeDefinition(scene.api.db.sql, place.owner, { name: freeName(), status, visibility })).id,
  );
}

/**
 * Wraps `make` so that all requests that do not change their subject share one subject per place. Every other request
 * gets its own subject.
 */
function sharedUnlessChanged(make: Subject): Subject {
  const shared = new Map<Place, string>();
  return async (occasion) => {
    const known = occasion.isChange ? undefined : shared.get(occasion.place);
    const subject = known ?? (await make(occasion));
    if (!occasion.isChange) shared.set(occasion.place, subject);
    return subject;
  };
}

/** Creates a member of the organization and returns the user's id. */
export const memberId: Subject = async ({ scene, place }) =>
  (await scene.api.make.person({ org: place.org, role: "viewer" })).user.id;

/** Creates a pending invitation to the organization and returns the invitation's id. */
export const invitationId: Subject = async ({ scene: { api }, place }) => {
  const { org, owner } = place;
  const email = `${freeName()}@example.org`;
  return (await makeInvitation(api, { orgId: org.id, email, invitedBy: owner.user.id })).id;
};

/** Invites the caller to another organization and returns the invitation's token. */
export const invitationToken: Subject = async ({ scene: { api }, userId }) => {
  const { org, user } = await api.make.person({ role: "owner" });
  const [invited] = await api.db.sql<[{ email: string }]>`select email from users where id = ${userId}`;
  return (await makeInvitation(api, { orgId: org.id, email: invited.email, invitedBy: user.id })).token;
};

/** Creates a key of the caller and returns the key's id. */
export const ownKey: Subject = async ({ scene, userId }) => (await scene.api.make.key({ userId })).id;

/** Creates a key of another user and returns the key's id. */
export const foreignKey: Subject = async ({ scene: { api } }) =>
  (await api.make.key({ userId: (await api.make.user()).id })).id;

/** Creates a session of the caller and returns the session's id. */
export const ownSession: Subject = async ({ scene, userId }) => (await scene.api.make.session({ userId })).id;

/** Creates a session of another user and returns the session's id. */
export const foreignSession: Subject = async ({ scene: { api } }) =>
  (await api.make.session({ userId: (await api.make.user()).id })).id;

/** Gives the caller a password and returns the password. */
export const knownPassword: Subject = async ({ scene, userId }) => {
  const password = `pass-${crypto.randomUUID()}`;
  await scene.api.db.sql`
    update users set password_hash = ${await hashCheaply(password)} where id = ${userId}`;
  return password;
};

/** Deletes all account mails, because a network may request only a limited number of them. */
export const quietNetwork: Subject = async ({ scene }) => {
  await scene.api.db.sql`delete from account_mails`;
  return "";
};

/** Returns the token of a password reset mail. */
export const resetToken: Subject = async ({ scene }) => {
  const { id: userId, email } = await scene.api.make.user();
  return makeMailToken(scene.api, { kind: "password_reset", email, userId });
};

/** Returns the token of the mail to a user's new email address. */
export const emailToken: Subject = async ({ scene }) => {
  const { id: userId, email: oldEmail } = await scene.api.make.user();
  return makeMailToken(scene.api, {
    kind: "email_change",
    email: `${freeName()}@example.org`,
    userId,
    details: { oldEmail },
  });
};

/** Returns the token of a sign-up mail. */
export const signUpToken: Subject = async ({ scene }) => {
  const username = freeName();
  const details = { username, passwordHash: await hashCheaply("seven quiet lamps at noon"), name: null };
  return makeMailToken(scene.api, { kind: "sign_up", email: `${username}@example.com`, details });
};

/** Fails the organization's queued job, because an organization may have only one active job. */
export const noActiveJob: Subject = async ({ scene, place }) => {
  const { sql } = scene.api.db;
  await sql`
    update export_jobs
    set status = 'failed', error_code = 'CANCELED', error_message = 'Canceled', finished_at = now()
    where org_id = ${place.org.id} and status = 'queued'`;
  return "";
};

/** Queues a job and returns the job's id. The free organization is on a paid tier while it queues the job. */
export const queuedJob: Subject = async (occasion) => {
  const { scene, place } = occasion;
  await noActiveJob(occasion);
  const isFree = place === scene.placeOf("freeMember");
  if (isFree) await setTier(scene.api, place, "pro");
  const { id } = await jobOf(await postJob(scene.api, place.owner));
  if (isFree) await setTier(scene.api, place, "free");
  return id;
};

/** Cancels the organization's scheduled deletion and returns the organization's slug. */
export const livingOrg: Subject = async ({ scene, place }) => {
  await scene.api.db.sql`update organizations set deletes_at = null where id = ${place.org.id}`;
  return place.org.slug;
};

/** Schedules the organization's deletion in seven days and returns the organization's slug. */
export const endingOrg: Subject = async ({ scene, place }) => {
  await scene.api.db.sql`
    update organizations set deletes_at = now() + interval '7 days' where id = ${place.org.id}`;
  return place.org.slug;
};

/** Creates another project of the organization and returns the project's slug. */
export const otherProject: Subject = async ({ scene, place }) => {
  const { org, owner } = place;
  return (await scene.api.make.project({ orgId: org.id, ownerId: owner.user.id })).slug;
};

/** Creates a deleted project of the organization and returns the project's slug. */
export const deletedProject: Subject = async (occasion) => {
  const slug = await otherProject(occasion);
  await occasion.scene.api.db.sql`update projects set deleted_at = now() where slug = ${slug}`;
  return slug;
};

/** Creates a webhook of the organization and returns the webhook's id. */
export const webhookId: Subject = async ({ scene, place }) => {
  const [row] = await scene.api.db.sql<[{ id: string }]>`
    insert into webhooks (org_id, url, types, secret, position)
    values (${place.org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 0)
    returning id`;
  return row.id;
};

/** Deletes the organization's webhooks, because their number is limited. Returns the organization's slug. */
export const noWebhooks: Subject = async ({ scene, place }) => {
  await scene.api.db.sql`delete from webhooks where org_id = ${place.org.id}`;
  return place.org.slug;
};
