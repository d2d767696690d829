/** Renders database tables as the Markdown that documents them. */
import type { Pool } from "../../../sql/connection/pool.ts";

interface Column {
  name: string;
  type: string;
  isNullable: boolean;
  defaultValue: string | null;
}

/**
 * Returns the section about a table: one row per column, then the keys and indexes. Throws if a CHECK constraint has an
 * unknown form.
 */
export async function renderTable(
  sql: Pool,
  table: string,
  meanings: Readonly<Record<string, string>>,
): Promise<string> {
  const checks = await readChecks(sql, table);
  const rows = (await readColumns(sql, table)).map(({ name, type, isNullable, defaultValue }) => {
    const fallback = defaultValue ? `\`${defaultValue}\`` : "";
    const cells = [
      `\`${name}\``,
      type,
      isNullable ? "yes" : "no",
      fallback,
      checks[name] ?? "",
      meanings[name],
    ];
    return `| ${cells.join(" | ")} |`.replace(/ {2,}/g, " ");
  });
  return [
    `### ${table}`,
    "",
    "| Column | Type | Null | Default | Allowed | Meaning |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    ...(await readKeys(sql, table)).map((key) => `- ${key}`),
    "",
  ].join("\n");
}

async function readColumns(sql: Pool, table: string): Promise<Column[]> {
  const rows = await sql<Column[]>`
    select
      a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as is_nullable,
      pg_get_expr(d.adbin, d.adrelid) as default_value
    from pg_attribute as a
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
    order by a.attnum`;
  const short = (type: string) => type.replace(/^timestamp(\(\d\)) with time zone$/, "timestamptz$1");
  return rows.map((row) => ({ ...row, type: short(row.type) }));
}

/** Returns the values that CHECK constraints allow, by column. */
async function readChecks(sql: Pool, table: string): Promise<Record<string, string>> {
  const rows = await sql<{ column: string; definition: string }[]>`
    select a.attname as column, pg_get_constraintdef(k.oid) as definition
    from pg_constraint as k
    join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.conrelid = ${table}::regclass and k.contype = 'c'`;
  return Object.fromEntries(rows.map(({ column, definition }) => [column, describeCheck(definition)]));
}

const CHECK_FORMS: readonly [RegExp, (match: RegExpExecArray) => string][] = [
  [/ >= '0001-01-01 00:00:00\+00'.* < '10000-01-01 00:00:00\+00'/, () => "years 1 to 9999"],
  [
    /= ANY \(ARRAY\[(.*)\]\)/,
    ([, list = ""]) => [...list.matchAll(/'([^']*)'/g)].map(([, word]) => `\`${word}\``).join(", "),
  ],
  [
    /char_length\(\w+\) >= (\d+)\) AND \(char_length\(\w+\) <= (\d+)\)/,
    ([, min, max]) => `${min} to ${max} characters`,
  ],
  [/char_length\(\w+\) <= (\d+)\)/, ([, max]) => `up to ${max} characters`],
  [/ >= \(?(\d+)\)?(?:::double precision)?\) AND \(\w+ <= \(?(\d+)\)?/, ([, min, max]) => `${min} to ${max}`],
  [/'-Infinity'.*'Infinity'/, () => "finite"],
  [/ >= (\d+)\)/, ([, min]) => `from ${min}`],
  [/ > 0\)/, () => "from 1"],
  [/ ~ '\^\[0-9a-f\]\{64\}\$'/, () => "64 hex digits"],
];

function describeCheck(definition: string): string {
  for (const [form, describe] of CHECK_FORMS) {
    const match = form.exec(definition);
    if (match) return describe(match);
  }
  throw new Error(`Cannot describe the constraint: ${definition}`);
}

/** Returns the primary key, unique constraints, foreign keys and non-unique indexes, in this order. */
async function readKeys(sql: Pool, table: string): Promise<string[]> {
  const keys = await sql<{ definition: string }[]>`
    select pg_get_constraintdef(oid) as definition
    from pg_constraint
    where conrelid = ${table}::regclass and contype in ('p', 'f', 'u')
    order by position(contype in 'puf'), conname`;
  const indexes = await sql<{ definition: string }[]>`
    select pg_get_indexdef(i.indexrelid) as definition
    from pg_index as i
    where i.indrelid = ${table}::regclass and not i.indisunique
    order by i.indexrelid::regclass::text collate "C"`;
  const words = { "PRIMARY KEY": "Primary key", UNIQUE: "Unique", "FOREIGN KEY": "Foreign key" };
  return [
    ...keys.map(({ definition }) => {
      const [, kind = "", columns, , target] =
        /^([A-Z ]+) (\([^)]*\))( REFERENCES (.*))?$/.exec(definition) ?? [];
      return `${words[kind as keyof typeof words]} \`${columns}\`${target ? `, references \`${target.replace("(", " (")}\`` : ""}`;
    }),
    ...indexes.map(
      ({ definition }) =>
        `Index \`${definition
          .replace(/^.* USING btree /, "")
          .replace(" WHERE (", " where ")
          .replace(/ IS NOT NULL\)$/, " is not null")
          .replace(" INCLUDE ", " include ")}\``,
    ),
  ];
}
