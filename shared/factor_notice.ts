/** The events of second factors that users get a mail about. */
export type FactorNotice =
  | { event: "added"; name: string }
  /** `isLast`: signing in requires the password alone. */
  | { event: "removed"; name: string; isLast: boolean }
  /** An operator has removed all of them. */
  | { event: "reset" }
  | { event: "codes_renewed" }
  | { event: "code_used"; codesLeft: number }
  /** Someone who knows the password or uses a session enters wrong codes. */
  | { event: "guessed" }
  /** A passkey was copied. */
  | { event: "copied" };
