/** All operations by subject. The OpenAPI document lists them in this order. */

import { changePassword } from "./accounts/change_password.ts";
import { addPasskey, beginPasskey, beginTotp, confirmTotp } from "./accounts/factors/add_factor.ts";
import { listFactors, removeFactor, renameFactor, renewRecoveryCodes } from "./accounts/factors/factors.ts";
import { beginVerification, verifyFactor } from "./accounts/factors/verify_factor.ts";
import { createKey, listKeys, revokeKey } from "./accounts/keys.ts";
import { getMe } from "./accounts/me.ts";
import { acceptInvitation, previewInvitation } from "./accounts/members/accept_invitation.ts";
import { createInvitation, listInvitations, revokeInvitation } from "./accounts/members/invitations.ts";
import { removeMember, updateMember } from "./accounts/members/manage_members.ts";
import { listAuditEntries } from "./accounts/organizations/audit.ts";
import { createOrganization } from "./accounts/organizations/create.ts";
import { deleteOrganization, restoreOrganization } from "./accounts/organizations/delete.ts";
import {
  getOrganization,
  getOrganizationUsage,
  listOrganizationMembers,
  listOrganizations,
} from "./accounts/organizations/own_orgs.ts";
import { getOrganizationProfile } from "./accounts/organizations/profile.ts";
import {
  createProject,
  deleteProject,
  listDeletedProjects,
  listOrganizationProjects,
  restoreProject,
  updateProject,
} from "./accounts/organizations/projects.ts";
import { updateOrganization } from "./accounts/organizations/update.ts";
import { listSessions, logout, revokeSession } from "./accounts/sessions.ts";
import { login } from "./accounts/sign_in/login.ts";
import { beginSecondStep, signInWithSecondFactor } from "./accounts/sign_in/second_step.ts";
import { confirmEmailChange, requestEmailChange } from "./accounts/sign_up/change_email.ts";
import { requestPasswordReset, resetPassword } from "./accounts/sign_up/reset_password.ts";
import { confirmSignUp, signUp } from "./accounts/sign_up/sign_up.ts";
import { getUser, getUsers, updateOwnProfile } from "./accounts/users.ts";
import { createDefinitions, validateDefinition } from "./definitions/batch/batch.ts";
import { createDefinition } from "./definitions/create.ts";
import { getDependencies, getDependents } from "./definitions/dependencies.ts";
import { getExecutionStatistics } from "./definitions/executions.ts";
import { forkDefinition } from "./definitions/forks/fork.ts";
import { getForkable, getLineage, listForks } from "./definitions/forks/forks.ts";
import { getDefinitionSchema, getLanguage, listLanguages } from "./definitions/languages.ts";
import { listDefinitions } from "./definitions/list.ts";
import { publishDefinition } from "./definitions/publish.ts";
import { getDefinition } from "./definitions/read.ts";
import { recordExecution } from "./definitions/record_execution.ts";
import { archiveDefinition, deleteDefinition, deprecateDefinition } from "./definitions/retire.ts";
import { getTranslatorVersion, retranslateDefinition } from "./definitions/retranslate.ts";
import { updateDefinition } from "./definitions/update.ts";
import { upgradeDefinition } from "./definitions/upgrade.ts";
import { diffVersions, listVersions } from "./definitions/versions.ts";
import type { Deps } from "./deps.ts";
import { listEvents } from "./events/events.ts";
import { exportBundle } from "./exports/bundle.ts";
import { exportDataset } from "./exports/dataset.ts";
import { listExportDatasets } from "./exports/dataset_list.ts";
import { downloadExportJob } from "./exports/download.ts";
import { estimateBundle } from "./exports/estimate.ts";
import { cancelExportJob, getExportJob, listExportJobs } from "./exports/jobs.ts";
import { queueExportJob } from "./exports/queue_job.ts";
import type { AnyOperation } from "./http/operation.ts";
import { computeCost } from "./models/cost.ts";
import { listHeldPrices } from "./models/held_prices.ts";
import { listModels, listModelsCsv } from "./models/list/list.ts";
import { getModel, listModelAliases, listModelProviders, resolveModelAlias } from "./models/models.ts";
import { listModelPriceChanges, listRecentPriceChanges } from "./models/price_history.ts";
import { getLiveness, getReadiness } from "./monitoring/health.ts";
import { getMetrics } from "./monitoring/metrics.ts";
import { getSecurityPolicy, getSecurityTxt } from "./monitoring/security_txt.ts";
import { listWebhookDeliveries, testWebhook } from "./webhooks/deliveries.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from "./webhooks/webhooks.ts";

/** All operations except those for operators. */
const OPERATIONS: readonly AnyOperation[] = [
  // Accounts, sessions, keys, second factors and organizations.
  login,
  logout,
  getMe,
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
  changePassword,
  signUp,
  confirmSignUp,
  requestPasswordReset,
  resetPassword,
  requestEmailChange,
  confirmEmailChange,
  listSessions,
  revokeSession,
  listKeys,
  createKey,
  revokeKey,
  listOrganizations,
  getOrganization,
  listOrganizationMembers,
  listOrganizationProjects,
  getOrganizationUsage,
  listAuditEntries,
  getOrganizationProfile,
  updateOrganization,
  createOrganization,
  deleteOrganization,
  restoreOrganization,
  createProject,
  listDeletedProjects,
  updateProject,
  deleteProject,
  restoreProject,
  updateMember,
  removeMember,
  createInvitation,
  listInvitations,
  revokeInvitation,
  previewInvitation,
  acceptInvitation,
  updateOwnProfile,
  getUser,
  getUsers,
  // Definitions.
  listDefinitions,
  validateDefinition,
  createDefinitions,
  getDefinition,
  getTranslatorVersion,
  retranslateDefinition,
  upgradeDefinition,
  createDefinition,
  updateDefinition,
  deleteDefinition,
  publishDefinition,
  deprecateDefinition,
  archiveDefinition,
  forkDefinition,
  getForkable,
  getLineage,
  listForks,
  getDependencies,
  getDependents,
  getExecutionStatistics,
  recordExecution,
  listVersions,
  diffVersions,
  listLanguages,
  getLanguage,
  getDefinitionSchema,
  // Exports.
  listExportDatasets,
  exportBundle,
  estimateBundle,
  exportDataset,
  queueExportJob,
  listExportJobs,
  getExportJob,
  cancelExportJob,
  downloadExportJob,
  // The model catalog.
  listModels,
  listModelsCsv,
  computeCost,
  listModelPriceChanges,
  listRecentPriceChanges,
  listHeldPrices,
  listModelProviders,
  listModelAliases,
  resolveModelAlias,
  getModel,
  // Events and webhooks.
  listEvents,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
];

/**
 * Returns all operations except those that serve the OpenAPI document, which is built from this list. Metrics are included only
 * if METRICS_PORT is not set.
 */
export function listServiceOperations({ config }: Pick<Deps, "config">): AnyOperation[] {
  const metrics = config.metricsPort === null ? [getMetrics] : [];
  return [...OPERATIONS, getLiveness, getReadiness, ...metrics, getSecurityTxt, getSecurityPolicy];
}
