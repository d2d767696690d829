/** POST /auth/login: starts a session with an email and a password. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { upsertSignInNetwork } from "../../sql/accounts/sign_in_networks.ts";
import { findUserForLogin, type UserWithPassword } from "../../sql/accounts/users.ts";
import { access, holdsSecret, looksPastCookie } from "../http/access.ts";
import { auditOrigin } from "../http/audit_actor.ts";
import { coarseNetworkOf } from "../http/request_address.ts";
import { type RequestContext, requestContext } from "../http/request_context.ts";
import { comesFromPage, createIsOwnPage } from "../http/request_origin.ts";
import { newSessionCookie } from "../http/session_cookie.ts";
import { failsWith } from "../openapi/types.ts";
import type { AuthDeps } from "./auth_deps.ts";
import { AUTH_TAG, EXAMPLE_SESSION, EXAMPLE_USER, PlatformRoleSchema, rejectNul } from "./auth_schemas.ts";
import { beginSession } from "./begin_session.ts";
import type { LoginAttempt } from "./login_limit.ts";
import { DUMMY_PASSWORD_HASH, PASSWORD_MAX_LENGTH } from "./password_rules.ts";

/** The longest address an account can have (users_email_check). */
const EMAIL_MAX_LENGTH = 320;

// Any length from 1: a password that is too short gets the same 401 as any wrong one.
const LoginBody = t.Object(
  {
    email: t.String({ minLength: 1, maxLength: EMAIL_MAX_LENGTH, description: "Case-insensitive" }),
    password: t.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
  },
  {
    title: "SignInRequest",
    additionalProperties: false,
    examples: [{ email: EXAMPLE_USER.email, password: "correct horse battery staple" }],
  },
);

const SignedIn = t.Object(
  {
    data: t.Object(
      {
        sessionToken: t.String({ description: "For `Authorization: Bearer`; not shown again" }),
        expiresAt: t.String({ format: "date-time" }),
        user: t.Object({
          id: t.String({ format: "uuid" }),
          email: t.String(),
          username: t.String(),
          role: PlatformRoleSchema,
        }),
      },
      { title: "SignIn" },
    ),
  },
  {
    description: "The session. Browsers also get it as a cookie.",
    examples: [{ data: { ...EXAMPLE_SESSION, user: EXAMPLE_USER } }],
  },
);

function wrongPair(): ApiError {
  return new ApiError("UNAUTHORIZED", {
    message: "The email or the password is wrong.",
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

/** The result of a password check. */
type Verdict = { ok: true; user: UserWithPassword } | { ok: false; user: UserWithPassword | null };

/** Checks the password of the account with this email. Takes the same time if there is no such account. */
async function checkPassword(
  deps: AuthDeps,
  { email, password }: typeof LoginBody.static,
  attempt: LoginAttempt,
): Promise<Verdict> {
  const user = await findUserForLogin(deps.sql, email);
  const passwordHash = user?.passwordHash ?? DUMMY_PASSWORD_HASH;
  const isRight = await deps.passwords.verify(password, passwordHash, { isFirst: attempt.isKnownNetwork });
  return user && isRight ? { ok: true, user } : { ok: false, user };
}

/** Starts a session; `null` for a disabled account, which gets the same error as a wrong password. */
async function signIn(deps: AuthDeps, user: UserWithPassword, context: RequestContext) {
  const { address, userAgent } = context;
  return deps.sql.begin(async (tx) => {
    const session = await beginSession(tx, {
      user,
      passwordHash: user.passwordHash,
      ttlHours: deps.config.sessionTtlHours,
      device: { address, userAgent },
      actor: { actorType: "user", actorUserId: user.id, ...auditOrigin(context) },
    });
    if (session) await upsertSignInNetwork(tx, { userId: user.id, network: coarseNetworkOf(address, 64) });
    return session;
  });
}

/** Throws UNAUTHORIZED for a wrong email or password, and RATE_LIMITED. */
async function signInWith(deps: AuthDeps, body: typeof LoginBody.static, context: RequestContext) {
  const attempt = await deps.loginLimit.take(context, body.email);
  const verdict = await checkPassword(deps, body, attempt);
  const session = verdict.ok ? await signIn(deps, verdict.user, context) : null;
  deps.metrics.signIns.inc({ result: session ? "succeeded" : "failed" });
  if (verdict.ok && session) return { session, user: verdict.user };
  deps.auditFailure(context, verdict.user?.id ?? null);
  throw wrongPair();
}

export function loginRoutes(deps: AuthDeps) {
  const isOwnPage = createIsOwnPage(deps.config.publicUrl);
  return new Elysia().use(access).post(
    "/login",
    async ({ body, request, set }) => {
      // Otherwise another site could sign its visitors in to an account of its own.
      if (comesFromPage(request) && !isOwnPage(request)) throw new ApiError("FORBIDDEN_ORIGIN");
      rejectNul("email", body.email);
      const { session, user } = await signInWith(deps, body, requestContext(request));
      set.headers["set-cookie"] = newSessionCookie(session.sessionToken, deps.config);
      set.headers["cache-control"] = "no-store";
      const { id, email, username, platformRole } = user;
      return { data: { ...session, user: { id, email, username, role: platformRole } } };
    },
    {
      publicAccess: true,
      body: LoginBody,
      response: { 200: SignedIn },
      detail: {
        tags: [AUTH_TAG],
        operationId: "login",
        summary: "Sign in",
        description:
          "A wrong email or password returns 401, after the same time whether or not the account exists. Attempts are " +
          "limited per client address, and per account and network. After many attempts on an account, networks from " +
          "which it has not signed in for 30 days must wait up to 15 minutes before each attempt. A user can have 50 " +
          "sessions; the next sign-in ends the least recently used one.",
        ...looksPastCookie(),
        ...holdsSecret(),
        ...failsWith("FORBIDDEN_ORIGIN", "RATE_LIMITED", "SERVICE_UNAVAILABLE"),
      },
    },
  );
}
