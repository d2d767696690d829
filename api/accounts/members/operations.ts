/** The operations of members and invitations. */
import type { AnyOperation } from "../../http/operation.ts";
import { removeMember, updateMember } from "./change.ts";

export const MEMBER_OPERATIONS: readonly AnyOperation[] = [updateMember, removeMember];
