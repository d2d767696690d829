/** The operations of second factors. */
import type { AnyOperation } from "../../http/operation.ts";
import { addPasskey, beginPasskey } from "./add_passkey.ts";
import { beginTotp, confirmTotp } from "./add_totp.ts";
import { listFactors, removeFactor, renameFactor, renewRecoveryCodes } from "./factors.ts";
import { beginSecondStep, signInWithSecondFactor } from "./second_step.ts";
import { beginVerification, verifyFactor } from "./verify_factor.ts";

export const FACTOR_OPERATIONS: readonly AnyOperation[] = [
  beginSecondStep,
  signInWithSecondFactor,
  listFactors,
  beginTotp,
  confirmTotp,
  beginPasskey,
  addPasskey,
  renameFactor,
  removeFactor,
  renewRecoveryCodes,
  beginVerification,
  verifyFactor,
];
