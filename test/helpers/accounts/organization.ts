/** Creates an organization with signed-in members. */
import { mintLinkToken } from "../../../shared/account_mail_kinds.ts";
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { insertInvitation } from "../../../sql/accounts/invitations.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "../http/app.ts";
import type { OrgRow, Person } from "../postgres/factory.ts";

export interface SignedInPerson extends Person {
  token: string;
}

export interface OrgScene extends AsyncDisposable {
  api: TestApp;
  org: OrgRow;
  owner: SignedInPerson;
  /** Creates a signed-in member with this role. */
  join(role: OrgRole): Promise<SignedInPerson>;
  /** Returns the members' roles by username. */
  roles(): Promise<Record<string, OrgRole>>;
}

/** Creates an organization and its owner in a database of their own. `await using` drops the database. */
export async function openOrgScene(options: TestAppOptions = {}): Promise<OrgScene> {
  const api = await openTestApp(options);
  const signIn = async (person: Person): Promise<SignedInPerson> => {
    return { ...person, ...(await api.make.session({ userId: person.user.id })) };
  };
  const owner = await signIn(await api.make.person({ role: "owner" }));
  const { org } = owner;
  return {
    api,
    org,
    owner,
    join: async (role) => signIn(await api.make.person({ org, role })),
    async roles() {
      const rows = await api.db.sql<{ username: string; role: OrgRole }[]>`
        select u.username, m.role
        from organization_members m
        join users u on u.id = m.user_id
        where m.org_id = ${org.id}`;
      return Object.fromEntries(rows.map(({ username, role }) => [username, role]));
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

export interface MadeInvitation {
  id: string;
  /** The token in the link of the invitation's mail. */
  token: string;
}

/** Creates an invitation with a link, as if its mail had been sent. */
export async function makeInvitation(
  { db }: Pick<TestApp, "db">,
  invitation: { orgId: string; email: string; role?: OrgRole; invitedBy: string },
): Promise<MadeInvitation> {
  const { orgId, email } = invitation;
  const { token, tokenHash } = mintLinkToken();
  const { id } = await db.sql.begin((tx) => insertInvitation(tx, { role: "viewer", ...invitation }));
  await db.sql`
    insert into account_mails (kind, email, org_id, details, token_hash, sent_at, expires_at)
    values (
      'invitation', ${email}, ${orgId}, ${db.sql.json({ invitationId: id })}, ${tokenHash}, now(), now() + interval '7 days'
    )`;
  return { id, token };
}

/** Sends a JSON request. Returns the status of the response and its data, or its error and error code. */
export async function ask(
  api: TestApp,
  path: string,
  { token, method = "GET", body }: { token?: string; method?: string; body?: unknown },
) {
  const key = token === undefined ? {} : { key: token };
  const response = await api.request(`/api/v1${path}`, {
    method,
    ...key,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const { data, error } = (text === "" ? {} : JSON.parse(text)) as {
    data?: Record<string, unknown>;
    error?: { code: string; message: string; details?: Record<string, unknown> };
  };
  return { status: response.status, data, error, code: error?.code };
}
