/** All admin commands, in the order of the help. */
import { adoptArtifactsCommand } from "./artifacts.ts";
import { AUDIT_COMMANDS } from "./audit.ts";
import { CATALOG_COMMANDS } from "./catalog.ts";
import type { Command } from "./command/command.ts";
import { DEFINITION_COMMANDS } from "./definition.ts";
import { seedDemoCommand } from "./demo/seed.ts";
import { importCommand } from "./import/command.ts";
import { KEY_COMMANDS } from "./key.ts";
import { MEMBER_COMMANDS } from "./member.ts";
import { migrateCommand } from "./migrate.ts";
import { ORG_COMMANDS } from "./org.ts";
import { PROJECT_COMMANDS } from "./project.ts";
import { SESSION_COMMANDS } from "./session.ts";
import { TRACKER_COMMANDS } from "./tracker.ts";
import { USER_COMMANDS } from "./user.ts";

export const COMMANDS: readonly Command[] = [
  ...USER_COMMANDS,
  ...ORG_COMMANDS,
  ...MEMBER_COMMANDS,
  ...KEY_COMMANDS,
  ...SESSION_COMMANDS,
  ...PROJECT_COMMANDS,
  ...DEFINITION_COMMANDS,
  ...CATALOG_COMMANDS,
  ...AUDIT_COMMANDS,
  importCommand,
  ...TRACKER_COMMANDS,
  adoptArtifactsCommand,
  seedDemoCommand,
  migrateCommand,
];
