import { describe, expect, test } from "bun:test";
import { listIntervals } from "../../../shared/definitions/version_range.ts";
import { violates } from "../../../sql/connection/pool.ts";
import { listReferenceCandidates } from "../../../sql/definitions/reference_candidates.ts";
import { resolveDefinition } from "../../../sql/definitions/versions.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { type DefinitionColumns, makeDefinition } from "../../helpers/definitions/definitions.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory, type Person } from "../../helpers/postgres/factory.ts";

const ANONYMOUS: DefinitionViewer = { userId: null, boundOrgId: null };

function viewer(person: Person, boundOrgId: string | null = null): DefinitionViewer {
  return { userId: person.user.id, boundOrgId };
}

async function openWithPeople() {
  const db = await openTestDatabase();
  const make = createFactory(db.sql);
  return { db, make, first: await make.person(), second: await make.person() };
}

/** Returns the organization and version that a name resolves to. Returns "no line" or "no version" if it resolves to nothing. */
async function resolved(
  db: TestDatabase,
  given: { name: string; version?: string; viewer?: DefinitionViewer; orgId?: string },
): Promise<unknown> {
  const { name, version = null, viewer: who = ANONYMOUS, orgId = null } = given;
  const found = await resolveDefinition(db.sql, { type: "agent", name, version, viewer: who, orgId });
  if (found.definition) return [found.definition.orgId, found.definition.version];
  return found.hasLine ? "no version" : "no line";
}

describe("resolveDefinition()", () => {
  test("chooses the line that was published first, and its highest published version", async () => {
    const { db, first, second } = await openWithPeople();
    await using _ = db;
    const all = { name: "reviewer", visibility: "public", status: "published" } as const;
    await makeDefinition(db.sql, second, { ...all, firstPublishedAt: "2026-01-01T00:00:00.000Z" });
    await makeDefinition(db.sql, first, { ...all, version: "9.0.0" });
    for (const version of ["1.9.0", "1.10.0"]) await makeDefinition(db.sql, second, { ...all, version });
    await makeDefinition(db.sql, second, { ...all, version: "2.0.0", status: "deprecated" });
    await makeDefinition(db.sql, second, { ...all, version: "3.0.0", status: "draft" });
    expect(await resolved(db, { name: "reviewer" })).toEqual([second.org.id, "1.10.0"]);
    expect(await resolved(db, { name: "reviewer", version: "2.0.0" })).toEqual([second.org.id, "2.0.0"]);
    expect(await resolved(db, { name: "reviewer", version: "3.0.0" })).toBe("no version");
    expect(await resolved(db, { name: "reviewer", version: "9.0.0" })).toEqual([first.org.id, "9.0.0"]);
    expect(await resolved(db, { name: "reviewer", version: "8.0.0" })).toBe("no version");
    expect(await resolved(db, { name: "reviewer", orgId: first.org.id })).toEqual([first.org.id, "9.0.0"]);
    expect(await resolved(db, { name: "none" })).toBe("no line");
  });

  test("ignores lines and versions that the viewer may not see", async () => {
    const { db, first, second } = await openWithPeople();
    await using _ = db;
    const hidden: DefinitionColumns = {
      name: "reviewer",
      status: "published",
      version: "3.0.0",
      firstPublishedAt: "2026-01-01T00:00:00.000Z",
    };
    await makeDefinition(db.sql, first, hidden);
    await makeDefinition(db.sql, second, { ...hidden, version: "1.0.0", visibility: "unlisted" });
    await makeDefinition(db.sql, second, { ...hidden, version: "2.0.0" });
    expect(await resolved(db, { name: "reviewer" })).toEqual([second.org.id, "1.0.0"]);
    expect(await resolved(db, { name: "reviewer", viewer: viewer(first) })).toEqual([first.org.id, "3.0.0"]);
    const bound = viewer(first, first.personalOrg.id);
    expect(await resolved(db, { name: "reviewer", viewer: bound })).toEqual([second.org.id, "1.0.0"]);
    expect(await resolved(db, { name: "reviewer", orgId: first.org.id })).toBe("no line");
  });

  test("prefers a bound key's organization, then the viewer's organizations, then the line published first", async () => {
    const { db, make, first, second } = await openWithPeople();
    await using _ = db;
    const open = { name: "reviewer", visibility: "public", status: "published" } as const;
    await makeDefinition(db.sql, second, { ...open, firstPublishedAt: "2026-01-01T00:00:00.000Z" });
    await makeDefinition(db.sql, first, {
      ...open,
      version: "2.0.0",
      firstPublishedAt: "2026-02-01T00:00:00.000Z",
    });
    const org = await make.org();
    await make.member({ orgId: org.id, userId: first.user.id, role: "viewer" });
    const here = { user: first.user, org };
    await makeDefinition(db.sql, here, {
      ...open,
      version: "3.0.0",
      firstPublishedAt: "2026-03-01T00:00:00.000Z",
    });
    expect(await resolved(db, { name: "reviewer" })).toEqual([second.org.id, "1.0.0"]);
    expect(await resolved(db, { name: "reviewer", viewer: viewer(first) })).toEqual([first.org.id, "2.0.0"]);
    const bound = viewer(first, org.id);
    expect(await resolved(db, { name: "reviewer", viewer: bound })).toEqual([org.id, "3.0.0"]);
    expect(await resolved(db, { name: "reviewer", viewer: bound, version: "2.0.0" })).toEqual([
      first.org.id,
      "2.0.0",
    ]);
    expect(await resolved(db, { name: "reviewer", viewer: bound, version: "1.0.0" })).toEqual([
      second.org.id,
      "1.0.0",
    ]);
    const elsewhere = viewer(first, first.personalOrg.id);
    expect(await resolved(db, { name: "reviewer", viewer: elsewhere })).toEqual([first.org.id, "2.0.0"]);
  });
});

describe("resolveDefinition() for unpublished lines", () => {
  test("finds a draft by its version, and otherwise chooses another organization's public line", async () => {
    const { db, first, second } = await openWithPeople();
    await using _ = db;
    await makeDefinition(db.sql, first, { name: "reviewer" });
    expect(await resolved(db, { name: "reviewer" })).toBe("no line");
    const bound = viewer(first, first.org.id);
    const readers = [viewer(first), bound];
    for (const reader of readers)
      expect(await resolved(db, { name: "reviewer", viewer: reader })).toBe("no version");
    await makeDefinition(db.sql, second, { name: "reviewer", status: "deprecated", visibility: "public" });
    for (const version of ["1.0.0", "2.0.0"]) {
      for (const reader of [ANONYMOUS, ...readers])
        expect(await resolved(db, { name: "reviewer", viewer: reader })).toEqual([second.org.id, version]);
      const open = { name: "reviewer", status: "published", visibility: "public" } as const;
      if (version === "1.0.0") await makeDefinition(db.sql, second, { ...open, version: "2.0.0" });
    }
    // With `anyStatus`, a request without a version finds the viewer's own line.
    const line = { type: "agent", name: "reviewer", version: null, orgId: null, anyStatus: true } as const;
    const whole = await resolveDefinition(db.sql, { ...line, viewer: viewer(first) });
    expect(whole.definition?.orgId).toBe(first.org.id);
    const named = { name: "reviewer", version: "1.0.0", viewer: viewer(first) };
    expect(await resolved(db, named)).toEqual([first.org.id, "1.0.0"]);
  });

  test("finds archived versions only by name@version", async () => {
    const { db, first } = await openWithPeople();
    await using _ = db;
    await makeDefinition(db.sql, first, { name: "reviewer", status: "archived", visibility: "public" });
    expect(await resolved(db, { name: "reviewer" })).toBe("no version");
    expect(await resolved(db, { name: "reviewer", version: "1.0.0" })).toEqual([first.org.id, "1.0.0"]);
  });

  test("prefers the viewer's own archived line to another organization's published line", async () => {
    const { db, first, second } = await openWithPeople();
    await using _ = db;
    const archived = { name: "reviewer", status: "archived", visibility: "public" } as const;
    await makeDefinition(db.sql, first, archived);
    await makeDefinition(db.sql, second, { ...archived, status: "published" });
    expect(await resolved(db, { name: "reviewer" })).toEqual([second.org.id, "1.0.0"]);
    expect(await resolved(db, { name: "reviewer", viewer: viewer(first) })).toBe("no version");
  });
});

test("listReferenceCandidates() returns one visible version per interval, never a draft or quarantined version", async () => {
  const { db, first, second } = await openWithPeople();
  await using _ = db;
  const open = { name: "helper", visibility: "public", status: "published" } as const;
  await makeDefinition(db.sql, second, open);
  await makeDefinition(db.sql, first, { ...open, version: "0.9.0", status: "archived" });
  await makeDefinition(db.sql, first, { ...open, version: "1.0.0" });
  await makeDefinition(db.sql, first, { ...open, version: "1.1.0" });
  await makeDefinition(db.sql, first, { ...open, version: "1.2.0", status: "draft" });
  await makeDefinition(db.sql, first, { ...open, version: "1.3.0", visibility: "private" });
  await makeDefinition(db.sql, first, { ...open, version: "1.4.0", status: "deprecated" });
  const bad = await makeDefinition(db.sql, first, { ...open, version: "1.5.0" });
  await db.owner`update definitions set quarantined_at = now(), quarantine_reason = 'bad' where id = ${bad.id}`;
  const cases = [
    [first, "latest", ["1.1.0"]],
    [first, "^1.2.0 || <1.1.0", ["1.0.0", "1.4.0"]],
    [first, "0.9.0", ["0.9.0"]],
    [first, "0.x", []],
    [first, "1.3.0", []],
    [first, "1.5.0", []],
    [second, "latest", ["1.0.0"]],
  ] as [Person, string, string[]][];
  const intervals = cases.flatMap(([{ org }, range]) =>
    listIntervals(range).map((interval) => {
      return { type: "agent" as const, name: "helper", orgId: org.id, range, ...interval };
    }),
  );
  const rows = await listReferenceCandidates(db.sql, { intervals, viewer: ANONYMOUS });
  for (const [{ org }, range, versions] of cases) {
    const found = rows.filter(({ place, orgId }) => intervals[place]?.range === range && orgId === org.id);
    expect([range, found.map(({ version }) => version).sort()]).toEqual([range, versions]);
  }
  const forMember = await listReferenceCandidates(db.sql, { intervals, viewer: viewer(first) });
  expect(forMember.map(({ version }) => version)).toContain("1.3.0");
  expect(forMember.map(({ version }) => version)).not.toContain("1.5.0");
});

describe("a published version", () => {
  async function refused(statement: Promise<unknown>): Promise<boolean> {
    const error = await statement.then(
      () => null,
      (reason: unknown) => reason,
    );
    return violates(error, "definitions_published_guard");
  }

  test("cannot be changed or deleted", async () => {
    const { db, first } = await openWithPeople();
    await using _ = db;
    const { sql } = db;
    const { id } = await makeDefinition(sql, first, { name: "reviewer", status: "published" });
    for (const column of ["yaml", "name", "version", "display_name", "visibility", "change_summary"]) {
      const statement = sql`update definitions set ${sql(column)} = 'other' where id = ${id}`;
      expect([column, await refused(statement)]).toEqual([column, true]);
    }
    for (const status of ["draft", "archived"]) {
      expect(await refused(sql`update definitions set status = ${status} where id = ${id}`)).toBe(true);
    }
    expect(await refused(sql`update definitions set published_at = now() where id = ${id}`)).toBe(true);
    expect(await refused(sql`update definitions set tags = '{a}' where id = ${id}`)).toBe(true);
    expect(await refused(sql`delete from definitions where id = ${id}`)).toBe(true);
  });

  test("can get a new rendering and status, while a draft can be changed and deleted", async () => {
    const { db, first } = await openWithPeople();
    await using _ = db;
    const { sql } = db;
    const { id } = await makeDefinition(sql, first, { name: "reviewer", status: "published" });
    await sql`
      update definitions
      set runtime_md = 'text', prompt_hash = ${`sha256:${"1".repeat(64)}`}, translator_version = '9.0.0'
      where id = ${id}`;
    await sql`
      update definitions set status = 'deprecated', deprecated_at = now(), deprecation_reason = 'old' where id = ${id}`;
    await sql`update definitions set status = 'archived', archived_at = now() where id = ${id}`;
    expect(await refused(sql`delete from definitions where id = ${id}`)).toBe(true);
    const draft = await makeDefinition(sql, first, { name: "reviewer", version: "2.0.0" });
    await sql`update definitions set display_name = 'other' where id = ${draft.id}`;
    await sql`delete from definitions where id = ${draft.id}`;
  });
});
