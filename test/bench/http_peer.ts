/**
 * What a read of one row is measured against: a server on Fastify and node-postgres that looks the key up and asks for
 * the row, with prepared statements and a compiled serializer. It runs on Node.js.
 */
import { createHash } from "node:crypto";
import Fastify from "fastify";
import pg from "pg";

const CALLER = {
  name: "caller",
  text: `select u.id as "userId", u.username, u.platform_role, k.id as "keyId", k.kind, k.scope, k.org_id, k.expires_at
    from api_keys k
    join users u on u.id = k.user_id
    where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
};
const PROFILE = {
  name: "profile",
  text: `select id, username, name, bio, website_url as "websiteUrl", avatar, avatar_mime_type as "avatarMimeType"
    from users
    where id = $1`,
};

const TEXT = { type: "string", nullable: true };
const PROFILE_SCHEMA = {
  type: "object",
  properties: {
    data: {
      type: "object",
      properties: {
        ...{ id: TEXT, username: TEXT, name: TEXT, bio: TEXT },
        ...{ websiteUrl: TEXT, avatar: TEXT, avatarMimeType: TEXT },
      },
    },
  },
};

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });
const app = Fastify();

app.get("/health/ready", async () => ({ data: { status: "ready" } }));

app.get<{ Params: { id: string } }>(
  "/api/v1/users/:id",
  { schema: { response: { 200: PROFILE_SCHEMA } } },
  async ({ params: { id }, headers }, reply) => {
    const [, secret = ""] = /^Bearer (ulr_[\w-]+)$/.exec(headers.authorization ?? "") ?? [];
    const hash = createHash("sha256").update(secret).digest();
    const { rows: callers } = await pool.query({ ...CALLER, values: [hash] });
    if (!callers[0]) return reply.code(401).send({ error: { code: "UNAUTHORIZED" } });
    const { rows } = await pool.query({ ...PROFILE, values: [id] });
    if (!rows[0]) return reply.code(404).send({ error: { code: "NOT_FOUND" } });
    return { data: rows[0] };
  },
);

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
