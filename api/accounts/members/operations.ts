/** The operations of members and invitations. */
import type { AnyOperation } from "../../http/operation.ts";
import { acceptInvitation, previewInvitation } from "./accept.ts";
import { removeMember, updateMember } from "./change.ts";
import { createInvitation, listInvitations, revokeInvitation } from "./invitations.ts";

export const MEMBER_OPERATIONS: readonly AnyOperation[] = [
  updateMember,
  removeMember,
  createInvitation,
  listInvitations,
  revokeInvitation,
  previewInvitation,
  acceptInvitation,
];
