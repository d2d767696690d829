/** The caller of a request. */
import type { Credential } from "../../shared/policy.ts";
import type { PlatformRole } from "../../shared/vocabulary.ts";

/** The user and the credential of a request. */
export interface Caller {
  userId: string;
  username: string;
  platformRole: PlatformRole;
  credential: Credential;
}
