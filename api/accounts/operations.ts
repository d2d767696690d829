/** The operations of accounts: people, their sessions and keys, and their organizations. */
import type { AnyOperation } from "../http/operation.ts";
import { changePassword } from "./change_password.ts";
import { FACTOR_OPERATIONS } from "./factors/operations.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { getMe } from "./me.ts";
import { MEMBER_OPERATIONS } from "./members/operations.ts";
import { ORGANIZATION_OPERATIONS } from "./organizations/operations.ts";
import { updateOwnProfile } from "./own_profile.ts";
import { listSessions, revokeSession } from "./sessions.ts";
import { SIGN_UP_OPERATIONS } from "./sign_up/operations.ts";
import { getUser, getUsers } from "./users.ts";

export const ACCOUNT_OPERATIONS: readonly AnyOperation[] = [
  login,
  logout,
  getMe,
  ...FACTOR_OPERATIONS,
  changePassword,
  ...SIGN_UP_OPERATIONS,
  listSessions,
  revokeSession,
  listKeys,
  createKey,
  revokeKey,
  ...ORGANIZATION_OPERATIONS,
  ...MEMBER_OPERATIONS,
  updateOwnProfile,
  getUser,
  getUsers,
];
