/** `artifacts adopt`: makes this database the owner of the artifact store. */
import { openArtifactStore } from "../../shared/artifacts/open_store.ts";
import { adoptArtifactStore, readArtifactOwner } from "../../shared/artifacts/owner.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { currentDatabase, ensureInstallation, markOriginal } from "../../sql/database_copy.ts";
import { defineCommand } from "./command/command.ts";
import { fields } from "./command/format_output.ts";

export const adoptArtifactsCommand = defineCommand({
  name: "artifacts adopt",
  about:
    "Makes this database the owner of the artifact store in ARTIFACT_URL. From then on, only its job runners build and delete " +
    "exports there; those of the previous owner stop. A restored copy then also delivers to webhooks.",
  flags: {},
  async run({ sql, config }) {
    const { artifactUrl } = config;
    const store = openArtifactStore(config);
    const previous = await readArtifactOwner(store);
    const previousInstallationId = previous?.installationId ?? null;
    const installationId = await ensureInstallation(sql);
    const database = await currentDatabase(sql);
    await sql.begin(async (tx) => {
      await insertAuditEntry(tx, {
        actorType: "operator",
        action: "artifacts.adopt",
        subject: { type: "installation", id: installationId },
        details: { artifactUrl, previousInstallationId },
      });
      await markOriginal(tx);
      await adoptArtifactStore(store, { installationId, database, since: new Date().toISOString() });
    });
    const before = previous ? (previousInstallationId ?? "an unreadable marker") : "none";
    return {
      json: { artifactUrl, installationId, previousInstallationId },
      text: fields({
        "Artifact store": artifactUrl,
        Owner: `${installationId} (database "${database}")`,
        "Previous owner": before === installationId ? "the same" : before,
      }),
    };
  },
});
