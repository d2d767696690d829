/** Makes references slow to read. */
import type { TestDatabase } from "../postgres/database.ts";

/**
 * Adds a row-level security policy that sleeps `seconds` seconds for each reference to `name`. The table's owner
 * bypasses the policy.
 */
export async function makeReferencesSlow(
  { owner }: Pick<TestDatabase, "owner">,
  { name, seconds }: { name: string; seconds: number },
): Promise<void> {
  await owner.unsafe(`
    create policy slow on definition_references
    using (case when name = '${name}' then pg_sleep(${seconds}) is not null else true end);
    alter table definition_references enable row level security`);
}
