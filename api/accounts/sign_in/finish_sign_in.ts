/** Completes a sign-in: begins the session and builds the response. */
import { type Static, Type } from "@sinclair/typebox";
import type { Config } from "../../../shared/process/config.ts";
import { dataOf, Instant, Text, Uuid } from "../../../shared/schemas.ts";
import type { ProofKind } from "../../../shared/vocabulary.ts";
import { upsertSignInNetwork } from "../../../sql/accounts/sign_in_networks.ts";
import type { UserWithPassword } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { coarseNetworkOf } from "../../http/client_address.ts";
import { reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { newSessionCookie } from "../../http/session_cookie.ts";
import { EXAMPLE_SESSION, EXAMPLE_USER, PlatformRoleSchema } from "../schemas.ts";
import { beginSession } from "../session_changes.ts";

const SignIn = Type.Object(
  {
    sessionToken: Type.String({ description: "For `Authorization: Bearer`; not shown again" }),
    expiresAt: Instant(),
    user: Type.Object({
      id: Uuid(),
      email: Text,
      username: Text,
      role: PlatformRoleSchema,
    }),
  },
  { title: "SignIn" },
);

export const SignedIn = dataOf(SignIn, "The session. Browsers also get it as a cookie.", {
  ...EXAMPLE_SESSION,
  user: EXAMPLE_USER,
});

type NewSession = Pick<Static<typeof SignIn>, "sessionToken" | "expiresAt">;

/** Begins the session of a user whose password was right. Returns null whenever `beginSession` does. Call inside a transaction. */
export async function finishSignIn(
  tx: Sql,
  { config }: { config: Pick<Config, "sessionTtlHours"> },
  options: { user: UserWithPassword; request: Request; secondFactor: ProofKind | null },
): Promise<NewSession | null> {
  const { user, request, secondFactor } = options;
  const { address, userAgent } = requestContext(request);
  const session = await beginSession(tx, {
    user,
    passwordHash: user.passwordHash,
    ttlHours: config.sessionTtlHours,
    device: { address, userAgent },
    secondFactor,
    actor: auditActor(request, { userId: user.id, credential: null }),
  });
  if (session) await upsertSignInNetwork(tx, { userId: user.id, network: coarseNetworkOf(address, 64) });
  return session;
}

export function signedInReply(
  config: Config,
  { session, user: { id, email, username, platformRole } }: { session: NewSession; user: UserWithPassword },
) {
  return reply(
    200,
    { data: { ...session, user: { id, email, username, role: platformRole } } },
    {
      headers: { "Set-Cookie": newSessionCookie(session.sessionToken, config), "Cache-Control": "no-store" },
    },
  );
}
