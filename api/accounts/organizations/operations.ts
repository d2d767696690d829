/** The operations of organizations. */
import type { AnyOperation } from "../../http/operation.ts";

export const ORGANIZATION_OPERATIONS: readonly AnyOperation[] = [];
