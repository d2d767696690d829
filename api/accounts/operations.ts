/** The operations of accounts: people, their sessions and keys, and their organizations. */
import type { AnyOperation } from "../http/operation.ts";
import { MEMBER_OPERATIONS } from "./members/operations.ts";
import { ORGANIZATION_OPERATIONS } from "./organizations/operations.ts";

export const ACCOUNT_OPERATIONS: readonly AnyOperation[] = [...ORGANIZATION_OPERATIONS, ...MEMBER_OPERATIONS];
