/** POST /auth/login: starts a session with an email and a password. */
import { type Static, Type } from "@sinclair/typebox";
import { upsertSignInNetwork } from "../../sql/accounts/sign_in_networks.ts";
import { findUserForLogin, type UserWithPassword } from "../../sql/accounts/users.ts";
import type { OperationDeps } from "../deps.ts";
import { auditOrigin } from "../http/audit_actor.ts";
import { unauthorized } from "../http/authenticate.ts";
import { operation, reply } from "../http/operation.ts";
import { coarseNetworkOf } from "../http/request_address.ts";
import { type RequestContext, requestContext } from "../http/request_context.ts";
import { Instant, Text } from "../http/schemas.ts";
import { newSessionCookie } from "../http/session_cookie.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { beginSession } from "./begin_session.ts";
import type { LoginAttempt } from "./login_limit.ts";
import { DUMMY_PASSWORD_HASH, PASSWORD_MAX_LENGTH } from "./password_rules.ts";
import { EMAIL_MAX_LENGTH } from "./profile_fields.ts";
import { AUTH_TAG, EXAMPLE_SESSION, EXAMPLE_USER, PlatformRoleSchema } from "./schemas.ts";

// Any length from 1: a password that is too short gets the same 401 as any wrong one.
const SignInRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: EMAIL_MAX_LENGTH, description: "Case-insensitive" }),
    password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
  },
  {
    title: "SignInRequest",
    additionalProperties: false,
    examples: [{ email: EXAMPLE_USER.email, password: "correct horse battery staple" }],
  },
);
type SignInRequest = Static<typeof SignInRequest>;

const SignIn = Type.Object(
  {
    sessionToken: Type.String({ description: "For `Authorization: Bearer`; not shown again" }),
    expiresAt: Instant(),
    user: Type.Object({
      id: Type.String({ format: "uuid" }),
      email: Text,
      username: Text,
      role: PlatformRoleSchema,
    }),
  },
  { title: "SignIn" },
);

export const login = operation(
  {
    id: "login",
    method: "POST",
    path: "/api/v1/auth/login",
    access: "public",
    tag: AUTH_TAG,
    summary: "Sign in",
    description:
      "A wrong email or password returns 401, after the same time whether or not the account exists. Attempts are " +
      "limited per client address, and per account and network. After many attempts on an account, networks from " +
      "which it has not signed in for 30 days must wait up to 15 minutes before each attempt. A user can have 50 " +
      "sessions; the next sign-in ends the least recently used one.",
    body: SignInRequest,
    response: {
      200: Type.Object(
        { data: SignIn },
        {
          description: "The session. Browsers also get it as a cookie.",
          examples: [{ data: { ...EXAMPLE_SESSION, user: EXAMPLE_USER } }],
        },
      ),
    },
    ignoresCookie: true,
    secret: true,
    fails: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ body, request }, deps) => {
    // PostgreSQL stores no NUL in text.
    if (body.email.includes("\0")) {
      throw invalidInput([{ path: "email", message: "must not contain the character NUL" }]);
    }
    const { session, user } = await signInWith(deps, body, requestContext(request));
    const { id, email, username, platformRole } = user;
    return reply(
      200,
      { data: { ...session, user: { id, email, username, role: platformRole } } },
      {
        headers: {
          "Set-Cookie": newSessionCookie(session.sessionToken, deps.config),
          "Cache-Control": "no-store",
        },
      },
    );
  },
);

/** Throws UNAUTHORIZED for a wrong email or password, and RATE_LIMITED. */
async function signInWith(deps: OperationDeps, body: SignInRequest, context: RequestContext) {
  const attempt = await deps.signIn.limit.take(context, body.email);
  const verdict = await checkPassword(deps, body, attempt);
  const session = verdict.ok ? await startSession(deps, verdict.user, context) : null;
  deps.metrics.signIns.inc({ result: session ? "succeeded" : "failed" });
  if (verdict.ok && session) return { session, user: verdict.user };
  deps.signIn.auditFailure(context, verdict.user?.id ?? null);
  throw unauthorized("The email or the password is wrong.");
}

/** The result of a password check. */
type Verdict = { ok: true; user: UserWithPassword } | { ok: false; user: UserWithPassword | null };

/** Checks the password of the account with this email. Takes the same time if there is no such account. */
async function checkPassword(
  { sql, signIn }: OperationDeps,
  { email, password }: SignInRequest,
  attempt: LoginAttempt,
): Promise<Verdict> {
  const user = await findUserForLogin(sql, email);
  const passwordHash = user?.passwordHash ?? DUMMY_PASSWORD_HASH;
  const isRight = await signIn.passwords.verify(password, passwordHash, { isFirst: attempt.isKnownNetwork });
  return user && isRight ? { ok: true, user } : { ok: false, user };
}

/** Starts a session; null for a disabled account, which gets the same error as a wrong password. */
async function startSession({ sql, config }: OperationDeps, user: UserWithPassword, context: RequestContext) {
  const { address, userAgent } = context;
  return sql.begin(async (tx) => {
    const session = await beginSession(tx, {
      user,
      passwordHash: user.passwordHash,
      ttlHours: config.sessionTtlHours,
      device: { address, userAgent },
      actor: { actorType: "user", actorUserId: user.id, ...auditOrigin(context) },
    });
    if (session) await upsertSignInNetwork(tx, { userId: user.id, network: coarseNetworkOf(address, 64) });
    return session;
  });
}
