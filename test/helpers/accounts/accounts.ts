/** Creates accounts with a password, and signs them in. */
import type { TestApp, TestRequest } from "../http/app.ts";
import type { Columns, UserRow } from "../postgres/factory.ts";

export interface Account extends UserRow {
  password: string;
}

/**
 * Hashes a password in the format that the service verifies. The service's own hashes take a hundred milliseconds; this
 * hash is cheaper.
 */
export async function hashCheaply(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
}

/** Creates a user who can sign in. */
export async function makeAccount(api: Pick<TestApp, "make">, columns: Columns = {}): Promise<Account> {
  const password = `pass ${crypto.randomUUID()}`;
  const user = await api.make.user({ passwordHash: await hashCheaply(password), ...columns });
  return { ...user, password };
}

export interface SignedIn {
  sessionToken: string;
  expiresAt: string;
  user: { id: string; email: string; username: string; role: string };
}

export async function login(
  api: Pick<TestApp, "request">,
  { email, password }: { email: string; password: string },
  options: TestRequest = {},
): Promise<Response> {
  return api.request("/api/v1/auth/login", { method: "POST", body: { email, password }, ...options });
}

/** Signs in; throws if that fails. */
export async function signIn(api: TestApp, account: Account): Promise<SignedIn> {
  const response = await login(api, account);
  if (response.status !== 200) throw new Error(`Cannot sign in: status ${response.status}`);
  const { data } = (await response.json()) as { data: SignedIn };
  return data;
}

/** Returns the audit log, oldest entry first, in the form that tests compare. */
export async function auditRows(api: TestApp) {
  return api.db.sql`
    select actor_type, actor_user_id, credential_id, action, subject_type, subject_id, client_request_id, details
    from audit_log
    order by id`;
}
