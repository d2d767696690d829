/** The texts of errors for which the table's message is not specific enough, by error code and case. */

/** The end of a text that names the request's organization. */
export const OTHER_ORG_ADVICE = "Set X-Org-Slug to use another organization.";

/** The end of a text whose error has a Retry-After header. */
export const WAIT_ADVICE = "Retry after the time in Retry-After.";

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function duration(seconds: number): string {
  return `${seconds} second${seconds === 1 ? "" : "s"}`;
}

/** The texts of NOT_FOUND by reason, for reasons that need no further details. */
export const MISSING: Readonly<Record<string, string>> = {
  factor: "Second factor not found. List yours with GET /api/v1/auth/factors.",
  key: "API key not found. List your keys with GET /api/v1/auth/keys.",
  options:
    "The options have expired or were used. Get new ones with POST /api/v1/auth/factors/passkeys/options.",
  route: "This path does not exist. GET /swagger/json lists all endpoints.",
  secret: "The secret has expired or was used. Get a new one with POST /api/v1/auth/factors/totp.",
  session: "Session not found. List your sessions with GET /api/v1/auth/sessions.",
  user: "User not found. Check the id.",
};

/** The texts of QUOTA_EXCEEDED by quota, for quotas that need only the limit. */
export const QUOTAS: Readonly<Record<string, (limit: number) => string>> = {
  deliveries: (limit) =>
    `${limit} deliveries of this webhook are pending, the maximum. Wait until they are delivered.`,
  factors: (limit) => `You have ${limit} second factors, the maximum. Remove one first.`,
  invitations: (limit) =>
    `The organization has ${limit} pending invitations, the maximum. Revoke one, or wait until one is accepted.`,
  keys: (limit) => `The user has ${limit} API keys, the maximum. Revoke one that is no longer needed.`,
  organizations: (limit) =>
    `You have created ${limit} organizations, the maximum. Delete one that you no longer need.`,
  projects: (limit) =>
    `The organization has ${count(limit)} projects, the maximum. Deleted projects count for 30 days.`,
  secrets: (limit) =>
    `The secret was replaced ${limit} times in 24 hours, the maximum. Delete the webhook to stop all its secrets.`,
  versions: (limit) =>
    `The definition has ${count(limit)} versions, the maximum. Delete drafts that are no longer needed, or use another name.`,
  webhooks: (limit) =>
    `The organization has ${limit} webhooks, the maximum. Delete one that is no longer needed.`,
};

const DEFINITION_QUOTAS: Readonly<Record<string, string>> = {
  drafts: "drafts. Publish or delete some",
  lines: "definitions. Delete drafts that are no longer needed",
  yamlBytes: "bytes of YAML. Delete drafts that are no longer needed",
};

/** A definition or one of its versions. */
interface Definition {
  type: string;
  name: string;
  version?: string | null;
}

/** Returns a definition for use within a sentence: `agent "reviewer@1.0.0"`. */
function quoted({ type, name, version = null }: Definition): string {
  return `${type} "${name}${version === null ? "" : `@${version}`}"`;
}

/** A definition, as addressed by a path. */
type AddressedDefinition = Definition & { orgSlug: string | null };

/** Returns a definition with its organization for use within a sentence: `agent "@acme/reviewer@1.0.0"`. */
function addressed({ orgSlug, ...definition }: AddressedDefinition): string {
  const { name } = definition;
  return quoted({ ...definition, name: orgSlug === null ? name : `@${orgSlug}/${name}` });
}

/** Returns a definition with its organization for the start of a sentence. */
function addressedFirst(definition: AddressedDefinition): string {
  const text = addressed(definition);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Adds a period, unless the text ends with one, or with a question mark or exclamation mark. */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Returns a problem as a sentence: `name must not be empty.`, or the problem of the whole body. */
function problemText({ path, message }: { path: string; message: string }): string {
  return sentence(`${path} ${message}`.trim());
}

const OTHER_NAME_ADVICE = "Name another organization as @org/name, or omit it to search all.";

export const TEXTS = {
  VALIDATION_ERROR: {
    problem: (problem: { path: string; message: string }) => `Check the request: ${problemText(problem)}`,
    item: (problem: { path: string; message: string }) => `Check the item: ${problemText(problem)}`,
    cursor: "The events after this cursor have been deleted. Omit the cursor to read from the oldest event.",
    disabledWebhook: 'The webhook is disabled. Enable it first: PATCH it with {"enabled": true}.',
    personalOrg: (slug: string) =>
      `"${slug}" is a personal organization, which has one owner. Choose another role.`,
  },
  NOT_EDITABLE: (version: Definition, status: string) =>
    `Cannot edit ${quoted(version)} in '${status}' status. Only drafts can be edited. Create a new version instead.`,
  UNAUTHORIZED: {
    account: "Your account no longer exists.",
    checksum: "The checksum of the API key is wrong. Copy the key again.",
    cookies: "The request has two session cookies. Clear the cookies of this site and sign in again.",
    credential:
      "The API key or session token is unknown, revoked or expired. Use another key, or sign in again.",
    currentPassword: "The current password is wrong.",
    disabled: "Your account is disabled. Ask an operator to enable it.",
    disabledUser: (username: string) => `User "${username}" is disabled. An operator can enable the account.`,
    factor: "The second factor is wrong, or was used before. Enter the code that the app shows now.",
    header:
      "The Authorization header cannot be read. Send Bearer and an API key (ulr_…) or a session token (uls_…).",
    org: "X-Org-Slug requires the API key or session of a member of that organization.",
    password: "The password is wrong.",
    signIn: "The email or the password is wrong.",
    signInOver: "The sign-in has expired or was used. Sign in with your password again.",
  },
  SUBSCRIPTION_REQUIRED: (org: { slug: string; requiredTier: unknown; currentTier: unknown }) =>
    `This requires the ${org.requiredTier} tier or above. Organization "${org.slug}" is on the ${org.currentTier} tier. ${OTHER_ORG_ADVICE}`,
  ORG_ACCESS_DENIED: {
    boundKey: (slug: string) =>
      `This API key works only for organization "${slug}". Name no other organization.`,
    differ: "X-Org-Slug and the path or body name different organizations. Remove one of them.",
    invitation: (email: string) => `This invitation is for ${email}. Sign in with that address.`,
    key: ({ username, slug }: { username: string; slug: string }) =>
      `User "${username}" is not a member of organization "${slug}", or it does not exist. Choose one of the user's organizations.`,
    notMember: (slug: string | null) =>
      `You are not a member of ${slug === null ? "that organization" : `organization "${slug}"`}, or it does not exist. Name one of your organizations.`,
  },
  INSUFFICIENT_ORG_ROLE: (org: { slug: string; requiredRole: unknown; currentRole: unknown }) =>
    `This requires the ${org.requiredRole} role or above. Your role in organization "${org.slug}" is ${org.currentRole}. ${OTHER_ORG_ADVICE}`,
  ROLE_REQUIRED: {
    organizations: "Only operators can create organizations here. Ask an operator to create one for you.",
  },
  SECOND_FACTOR_REQUIRED: {
    recent:
      "This requires a second factor used within the last 15 minutes. Use one with POST /api/v1/auth/factors/verify.",
    signIn: "The password is correct. Send a second factor to POST /api/v1/auth/login/second-factor.",
  },
  FORBIDDEN_ORIGIN: {
    form: "This form belongs to another session. Go back, copy what you have typed, reload the page and send the form again.",
  },
  NOT_FOUND: {
    alias: (alias: string) => `Alias "${alias}" not found.`,
    aliasOfNone: (alias: string) =>
      `Alias "${alias}" stood for no model of the catalog at that time. Choose another time.`,
    aliasOfGone: ({ alias, model }: { alias: string; model: string }) =>
      `Alias "${alias}" stands for the model "${model}", which is not in the catalog.`,
    dataset: (names: readonly string[]) => `Dataset not found. The datasets are ${names.join(", ")}.`,
    definition: (definition: AddressedDefinition) =>
      `${addressedFirst(definition)} not found. ${
        definition.orgSlug !== null
          ? OTHER_NAME_ADVICE
          : `Search with GET /api/v1/definitions?type=${definition.type}&search=${definition.name}.`
      }`,
    id: ({ type, id }: { type: string; id: string }) => `No ${type} has the id ${id}. Check the id.`,
    invitation: (slug: string) =>
      `Invitation not found. It was accepted or revoked, or has expired. List the pending ones with GET /api/v1/orgs/${slug}/invitations.`,
    language: ({ id, ids }: { id: string; ids: readonly string[] }) =>
      `Language "${id}" not found. The languages are ${ids.join(", ")}.`,
    markdown: (version: Definition) =>
      `The YAML of ${quoted(version)} cannot be rendered as Markdown. Its translationError says why.`,
    member: (slug: string) =>
      `The user is not a member of organization "${slug}". List its members with GET /api/v1/orgs/${slug}/members.`,
    model: (model: string) => `Model "${model}" not found.`,
    modelNotAlias: (model: string) =>
      `"${model}" is a model and not an alias. Get it with GET /api/v1/models/${model}.`,
    price: ({ model, from }: { model: string; from: string }) =>
      `Model "${model}" had no price from ${from} on. Choose another time.`,
    priceKind: (price: { model: string; field: string; general: { kind: string; field: string } | null }) =>
      `Model "${price.model}" has no price for ${price.field}.${
        price.general
          ? ` If the provider charges them as ${price.general.kind}, add them to ${price.general.field}.`
          : ""
      }`,
    published: (definition: AddressedDefinition) =>
      `No version of ${addressed(definition)} is published.${definition.orgSlug === null ? "" : ` ${OTHER_NAME_ADVICE}`}`,
    similar: (text: string, names: readonly string[]) =>
      names.length === 0 ? text : `${text} Did you mean ${names.map((name) => `"${name}"`).join(", ")}?`,
    unknownAlias: (at: { alias: string; since: string; parameter: string; model: string | null }) =>
      `Alias "${at.alias}" is known since ${at.since}. Choose a later ${at.parameter}, or name the model${at.model === null ? "" : `, such as "${at.model}"`}.`,
    unknownPrices: ({ model, since, parameter }: { model: string; since: string; parameter: string }) =>
      `The prices of model "${model}" are known since ${since}. Choose a later ${parameter}.`,
    version: (definition: AddressedDefinition) =>
      `${addressedFirst(definition)} not found.${definition.orgSlug === null ? "" : ` ${OTHER_NAME_ADVICE}`}`,
    webhook: (slug: string) => `Webhook not found. List webhooks with GET /api/v1/orgs/${slug}/webhooks.`,
  },
  PROJECT_NOT_FOUND: {
    id: (id: string) => `Project "${id}" not found in your organizations.`,
    in: ({ project, slug }: { project: string; slug: string }) =>
      `Project "${project}" not found in organization "${slug}".`,
    search: ({ project, slug }: { project: string | null; slug: string }) =>
      `Project ${project === null ? "" : `"${project}" `}not found in organization "${slug}". Set X-Org-Slug to search another organization.`,
  },
  METHOD_NOT_ALLOWED: (methods: string) => `Method not allowed. This path accepts ${methods}.`,
  AMBIGUOUS_ORGANIZATION: ({ type, name, slugs }: { type: string; name: string; slugs: readonly string[] }) =>
    `Several of your organizations have ${type} "${name}": ${slugs.join(", ")}. Name one as @org/${name}, or set X-Org-Slug.`,
  LAST_OWNER: {
    only: (slug: string) => `Organization "${slug}" has no other owner. Make another member an owner first.`,
    personal: (slug: string) =>
      `"${slug}" is a personal organization. Its owner can neither leave nor get another role.`,
  },
  QUOTA_EXCEEDED: (org: { slug: string; quota: string; limit: number }) =>
    `Organization "${org.slug}" has used up its quota of ${count(org.limit)} ${DEFINITION_QUOTAS[org.quota]}. ${OTHER_ORG_ADVICE}`,
  EDIT_CONFLICT: (version: Definition, updatedAt: string) =>
    `Cannot change ${quoted(version)}. It has changed since you read it, at ${updatedAt}. Read it again, then repeat your change.`,
  INVALID_TRANSITION: {
    retranslate: (version: Definition, status: string) =>
      `Cannot retranslate ${quoted(version)}. Its status is '${status}'.`,
    status: (version: Definition, { from, to }: { from: string; to: string }) =>
      `Cannot change ${quoted(version)} to '${to}'. Its status is '${from}'.`,
  },
  VERSION_EXISTS: {
    batch: (version: Definition, first: number) =>
      `It is ${quoted(version)}, as is document ${first} of this batch. Remove one of them, or use another version.`,
    org: (version: Definition, slug: string) =>
      `Organization "${slug}" already has ${quoted(version)}. Use another version. ${OTHER_ORG_ADVICE}`,
  },
  NAME_TAKEN: {
    email: (email: string) => `Another user has the email ${email}. Choose another one.`,
    fork: (definition: Definition, slug: string) =>
      `Organization "${slug}" already has ${quoted(definition)}. Choose another name for the fork. ${OTHER_ORG_ADVICE}`,
    organization: (slug: string) =>
      `Cannot create organization "${slug}". The slug is taken. Choose another one.`,
    project: (project: { attempt: string; slug: string; field: "name" | "slug"; isDeleted: boolean }) =>
      project.isDeleted
        ? `Cannot ${project.attempt}. A deleted project in organization "${project.slug}" has this ${project.field}. Restore it, or choose another ${project.field}.`
        : `Cannot ${project.attempt}. Another project in organization "${project.slug}" has this ${project.field}. Choose another ${project.field}.`,
  },
  NOT_FORKABLE: (version: AddressedDefinition, status: string | null) =>
    `Cannot fork ${addressed(version)}. ${status === null ? "It is quarantined" : `Its status is '${status}'`}. Fork another version.`,
  NOT_DELETABLE: {
    personal: (slug: string) =>
      `Cannot delete organization "${slug}". It is a personal organization, which every user has.`,
    version: (version: Definition, status: string) =>
      `Cannot delete ${quoted(version)}. Its status is '${status}', and only drafts can be deleted. Deprecate or archive it instead.`,
  },
  ALREADY_DUAL_STORAGE: ({ type, name, version }: Definition & { version: string }) =>
    `Cannot upgrade ${quoted({ type, name })}. Its latest version ${version} already has Markdown.`,
  EXPORT_EXPIRED: { missing: "The file of this export is missing from the storage. Start a new export." },
  PAYLOAD_TOO_LARGE: { yaml: (max: number) => `The YAML is too large. Send at most ${max} bytes of UTF-8.` },
  UNSUPPORTED_MEDIA_TYPE: {
    compressed: "Compressed bodies are not supported. Send the body without Content-Encoding.",
    type: (accepted: readonly string[]) => `Unsupported content type. Send ${accepted.join(" or ")}.`,
  },
  UNPROCESSABLE_ENTITY: {
    definition: (problem: string) => `The definition has errors. ${sentence(problem)}`,
    compared: (version: string, problem: string) =>
      `Version ${version} cannot be compared, because its YAML has errors. ${sentence(problem)}`,
    noFactor: "You have no second factor. Add one with POST /api/v1/auth/factors/totp.",
    noPasskey: "You have no passkey. If you have another second factor, use a code instead.",
    webhookUrl: (reason: string) =>
      `Events cannot be delivered to this URL: ${reason}. Use a public https address.`,
  },
  DEPENDENCY_CYCLE: (version: Definition, cycle: readonly string[]) =>
    `Cannot publish ${quoted(version)}. It depends on itself: ${cycle.join(" → ")}. Remove one of these references.`,
  TRANSLATION_FAILED: (definition: Definition, problem: string) =>
    `Cannot upgrade ${quoted(definition)}. The YAML cannot be rendered as Markdown. ${problem}`,
  RATE_LIMITED: {
    deletionNotices: ({ slug, limit, seconds }: { slug: string; limit: number; seconds: number }) =>
      `Cannot delete organization "${slug}" now. An owner has received ${limit} emails about deletions within an hour, the maximum, so they would not be notified. Retry in ${duration(seconds)}.`,
    documents: ({ waiting, seconds }: { waiting: number; seconds: number }) =>
      `${waiting} of your large documents are already waiting. Retry in ${duration(seconds)}, or send them one after the other.`,
    exportsOfOrg: ({ one, many, limit }: { one: string; many: string; limit: number }) =>
      `Cannot start another ${one}. Your organization is running ${limit}, the maximum. Wait until one of its ${many} ends, then retry.`,
    exportsOfUser: ({ one, limit }: { one: string; limit: number }) =>
      `Cannot start another ${one}. You are running ${limit}, the maximum per user. Wait until one ends or stop it, then retry.`,
    factors:
      "Too many wrong codes within a day. Codes from apps are not accepted until the day is over. Use a passkey or a recovery code.",
    invitations: (limit: number) =>
      `You have sent ${limit} invitations within an hour, the maximum. ${WAIT_ADVICE}`,
    lists: (limit: number) =>
      `You are downloading ${limit} lists of models, the maximum. Wait until one ends, then retry.`,
    requests: ({ limit, seconds }: { limit: number; seconds: number }) =>
      `You have sent more than ${limit} requests within a minute, the maximum. Retry in ${duration(seconds)}.`,
    turns: ({ what, limit }: { what: string; limit: number }) =>
      `${limit} of your ${what} are running or waiting, the maximum. Retry when one has finished.`,
    unread: (mebibytes: number) =>
      `You have ${mebibytes} MiB of unread responses, the maximum. Read them first, request a smaller page, or accept gzip or zstd.`,
    unsent: (mebibytes: number) =>
      `${mebibytes} MiB of your large requests are under way, the maximum. Retry when one is answered, or send fewer at a time.`,
  },
  SERVICE_UNAVAILABLE: {
    batch: (seconds: number) =>
      `A step of the batch took longer than ${duration(seconds)}. Nothing was stored. Try again later, or send fewer documents.`,
    cutoff: {
      hidden:
        "Cannot settle the cutoff of the export. The database hides other sessions from the service. Its log has the grant that is missing.",
      open: "Cannot settle the cutoff of the export. An open transaction may still add rows to it. Retry later, or choose an earlier as_of.",
    },
    cycles: (seconds: number) =>
      `Cannot search the dependencies for cycles within ${duration(seconds)}. Nothing was stored. Publish fewer documents at once, or reference fewer definitions.`,
    document: ({ cause, seconds }: { cause: string; seconds: number }) =>
      `Cannot process this document now: ${cause}. Retry in ${duration(seconds)}, or send a smaller document.`,
    exports: ({ one, limit, seconds }: { one: string; limit: number; seconds: number }) =>
      `Cannot start another ${one}. This server is running ${limit}, the maximum. Retry in ${duration(seconds)}.`,
    health: "This process is not ready. Retry in 5 seconds.",
    list: (seconds: number) =>
      `The list took longer than ${duration(seconds)}. Try again later, or use more filters.`,
    lists: ({ limit, seconds }: { limit: number; seconds: number }) =>
      `This server is sending ${limit} lists of models, the maximum. Retry in ${duration(seconds)}.`,
    outcomeUnknown: "The outcome is unknown. Check whether the change was applied before retrying.",
    overtaken: (tries: number) =>
      `Cannot apply this change. Others changed the definition first, ${tries} times in a row. Nothing was written. Retry in 1 second.`,
    references: (seconds: number) =>
      `Cannot resolve the references within ${duration(seconds)}. Nothing was stored. Send fewer documents at once, or documents with fewer references.`,
    resolving: (seconds: number) =>
      `Resolving the references took longer than ${duration(seconds)}. Try again later.`,
    signIns: (waiting: number) => `Too many sign-ins at once: ${waiting} are waiting. ${WAIT_ADVICE}`,
    tracker:
      "The tracker's tables cannot be read, so nothing can be exported. Ask the operator of this service to restore them.",
    unread: ({ mebibytes, seconds }: { mebibytes: number; seconds: number }) =>
      `${mebibytes} MiB of responses are waiting for slow clients, the maximum. Request a smaller page, accept gzip or zstd, or retry in ${duration(seconds)}.`,
    unsent: ({ mebibytes, seconds }: { mebibytes: number; seconds: number }) =>
      `${mebibytes} MiB of large requests are under way, the maximum. Send less than 64 KiB, or retry in ${duration(seconds)}.`,
  },
} as const;
