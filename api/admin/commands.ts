/** The visible list of commands, in the order of the help. */
import type { Command } from "./command.ts";
import { seedDemoCommand } from "./demo.ts";
import { importCommand } from "./import.ts";
import { createKeyCommand, revokeKeyCommand } from "./key.ts";
import { addMemberCommand, removeMemberCommand } from "./member.ts";
import { migrateCommand } from "./migrate.ts";
import { createOrgCommand, setOrgTierCommand } from "./org.ts";
import { createProjectCommand } from "./project.ts";
import { createSessionCommand } from "./session.ts";
import { createUserCommand } from "./user.ts";

export const COMMANDS: readonly Command[] = [
  createUserCommand,
  createOrgCommand,
  setOrgTierCommand,
  addMemberCommand,
  removeMemberCommand,
  createKeyCommand,
  revokeKeyCommand,
  createSessionCommand,
  createProjectCommand,
  importCommand,
  seedDemoCommand,
  migrateCommand,
];
