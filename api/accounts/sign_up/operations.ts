/** The operations of accounts that people make and get back by mail. */
import type { AnyOperation } from "../../http/operation.ts";
import { confirmEmailChange, requestEmailChange } from "./change_email.ts";
import { requestPasswordReset, resetPassword } from "./reset_password.ts";
import { confirmSignUp, signUp } from "./sign_up.ts";

export const SIGN_UP_OPERATIONS: readonly AnyOperation[] = [
  signUp,
  confirmSignUp,
  requestPasswordReset,
  resetPassword,
  requestEmailChange,
  confirmEmailChange,
];
