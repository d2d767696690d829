/** Makes references slow to read. */
import type { TestDatabase } from "../postgres/database.ts";

/** Makes each read of a reference to `name` by the service's role take this many seconds. */
export async function makeReferencesSlow(
  { owner }: Pick<TestDatabase, "owner">,
  { name, seconds }: { name: string; seconds: number },
): Promise<void> {
  await owner.unsafe(`
    create policy slow on definition_references
    using (case when name = '${name}' then pg_sleep(${seconds}) is not null else true end);
    alter table definition_references enable row level security`);
}
