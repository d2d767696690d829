/** What users are told about their second factors, by mail. */
export type FactorNotice =
  | { event: "added"; name: string }
  /** `isLast`: signing in requires the password alone. */
  | { event: "removed"; name: string; isLast: boolean }
  /** An operator has removed all of them. */
  | { event: "reset" }
  | { event: "codes_renewed" }
  | { event: "code_used"; codesLeft: number }
  /** Somebody who knows the password enters wrong codes. */
  | { event: "guessed" }
  /** Somebody has a copy of a passkey. */
  | { event: "copied" };
