/** Creates accounts with a password, and signs them in. */
import type { TestApp, TestRequest } from "../http/app.ts";
import type { Columns, UserRow } from "../postgres/factory.ts";

export interface Account extends UserRow {
  password: string;
}

/**
 * Returns an argon2id hash with minimal cost parameters, which the service can verify. The service's own parameters
 * take a hundred milliseconds.
 */
export async function hashCheaply(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
}

/** Creates a user with a random password. */
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

/** Returns the columns of the audit log that tests compare, oldest entry first. */
export async function auditRows(api: TestApp) {
  return api.db.sql`
    select actor_type, actor_user_id, credential_id, action, subject_type, subject_id, client_request_id, details
    from audit_log
    order by id`;
}
