/** All commands, in the order of the help. */
import { adoptArtifactsCommand } from "./artifacts.ts";
import { listAuditCommand, verifyAuditCommand } from "./audit.ts";
import { acceptHeldCommand, correctPriceCommand, listHeldCommand, rejectHeldCommand } from "./catalog.ts";
import type { Command } from "./command/command.ts";
import { quarantineDefinitionCommand, releaseDefinitionCommand } from "./definition.ts";
import { seedDemoCommand } from "./demo/seed.ts";
import { importCommand } from "./import/command.ts";
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from "./key.ts";
import { addMemberCommand, removeMemberCommand } from "./member.ts";
import { migrateCommand } from "./migrate.ts";
import {
  createOrgCommand,
  deleteOrgCommand,
  listOrgsCommand,
  restoreOrgCommand,
  setOrgTierCommand,
  updateOrgCommand,
} from "./org.ts";
import {
  createProjectCommand,
  deleteProjectCommand,
  listProjectsCommand,
  renameProjectCommand,
  restoreProjectCommand,
} from "./project.ts";
import { createSessionCommand, listSessionsCommand, revokeSessionCommand } from "./session.ts";
import { checkTrackerCommand, distributeTrackerCommand } from "./tracker.ts";
import {
  createUserCommand,
  disableUserCommand,
  enableUserCommand,
  listUsersCommand,
  removeFactorsCommand,
  setPasswordCommand,
  showUserCommand,
  updateUserCommand,
} from "./user.ts";

export const COMMANDS: readonly Command[] = [
  createUserCommand,
  listUsersCommand,
  showUserCommand,
  updateUserCommand,
  setPasswordCommand,
  disableUserCommand,
  enableUserCommand,
  removeFactorsCommand,
  createOrgCommand,
  listOrgsCommand,
  updateOrgCommand,
  setOrgTierCommand,
  deleteOrgCommand,
  restoreOrgCommand,
  addMemberCommand,
  removeMemberCommand,
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  createSessionCommand,
  listSessionsCommand,
  revokeSessionCommand,
  createProjectCommand,
  listProjectsCommand,
  renameProjectCommand,
  deleteProjectCommand,
  restoreProjectCommand,
  quarantineDefinitionCommand,
  releaseDefinitionCommand,
  listHeldCommand,
  acceptHeldCommand,
  rejectHeldCommand,
  correctPriceCommand,
  listAuditCommand,
  verifyAuditCommand,
  importCommand,
  checkTrackerCommand,
  distributeTrackerCommand,
  adoptArtifactsCommand,
  seedDemoCommand,
  migrateCommand,
];
