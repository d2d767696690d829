/** POST /auth/login: starts a session with an email and a password. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { requestBody } from "../../../shared/schemas.ts";
import { findUserForLogin } from "../../../sql/accounts/users.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { operation } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { DUMMY_PASSWORD_HASH, PASSWORD_MAX_LENGTH } from "../password_rules.ts";
import { EMAIL_MAX_LENGTH } from "../profile_fields.ts";
import { EXAMPLE_USER, SIGNED_OUT } from "../schemas.ts";
import { finishSignIn, SignedIn, signedInReply } from "./finish_sign_in.ts";
import { requireSecondStep } from "./second_step.ts";

// Accepts any length from 1, because a password that is too short gets the same 401 as any wrong password.
const SignInRequest = requestBody(
  "SignInRequest",
  {
    email: Type.String({ minLength: 1, maxLength: EMAIL_MAX_LENGTH, description: "Case-insensitive" }),
    password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
  },
  { email: EXAMPLE_USER.email, password: "correct horse battery staple" },
);

export const login = operation(
  {
    ...SIGNED_OUT,
    id: "login",
    path: "/api/v1/auth/login",
    summary: "Sign in",
    description:
      "A wrong email or password returns 401, after the same time whether or not the account exists. Attempts are " +
      "limited per client address, and per account and network. After many attempts on an account, networks from " +
      "which it has not signed in for 30 days must wait up to 15 minutes before each attempt. A user can have 50 " +
      "sessions; the next sign-in ends the least recently used one. The right password of a user with a second factor returns " +
      "SECOND_FACTOR_REQUIRED, with a token for the second step.",
    body: SignInRequest,
    response: { 200: SignedIn },
    fails: [
      [
        "SECOND_FACTOR_REQUIRED",
        {
          loginToken: "ull_Q2hhbmdlIG1lIGJlZm9yZSB5b3UgdXNlIG1lLCBwbHM",
          methods: ["totp", "recovery_code"],
          expiresAt: "2026-11-20T10:05:00.000Z",
        },
      ],
      "RATE_LIMITED",
      "SERVICE_UNAVAILABLE",
    ],
  },
  async ({ body: { email, password }, request }, deps) => {
    const { sql, signIn, metrics, config } = deps;
    const context = requestContext(request);
    // PostgreSQL rejects NUL in text.
    if (email.includes("\0")) throw invalidField("email", "must not contain the character NUL");
    const { isKnownNetwork } = await signIn.limit.take(context, email);
    const found = await findUserForLogin(sql, email);
    // Verifies a hash even if the account does not exist, so that the response takes the same time.
    const passwordHash = found?.passwordHash ?? DUMMY_PASSWORD_HASH;
    const isRight = await signIn.passwords.verify(password, passwordHash, { isFirst: isKnownNetwork });
    const user = isRight && found?.disabledAt === null ? found : null;
    if (user) await requireSecondStep(sql, user);
    const session =
      user &&
      (await deps.writeAccountInTurn(request, (tx) =>
        finishSignIn(tx, deps, { user, request, secondFactor: null }),
      ));
    metrics.signIns.inc({ result: session ? "succeeded" : "failed" });
    if (user && session) return signedInReply(config, { session, user });
    signIn.auditFailure(context, found?.id ?? null);
    throw unauthorized(TEXTS.UNAUTHORIZED.signIn);
  },
);
