/** Abusers who send several documents of almost the maximum size at once, each with a name that does not match the path. */
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type AbuserKind, abuse } from "../abuse.ts";

const CONNECTIONS = 4;
const TEXT_BYTES = 150_000;

export const makeBigWriter: AbuserKind = (assault) => {
  const { person } = assault;
  const text = "- look at it once more\n".repeat(TEXT_BYTES / 24);
  const yaml = `${agentYaml("hostile-other")}  custom:\n${text.replaceAll(/^/gm, "    ").trimEnd()}\n`.slice(
    0,
    TEXT_BYTES,
  );
  const rawBody = JSON.stringify({ yaml });
  return async () => {
    await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, n) =>
        abuse(assault, {
          method: "POST",
          path: `/api/v1/definitions/agent/hostile-big-${n}`,
          key: person.key,
          org: person.org.slug,
          rawBody,
          expects: [422],
        }),
      ),
    );
  };
};
