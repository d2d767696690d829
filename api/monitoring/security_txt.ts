/** GET /.well-known/security.txt (RFC 9116), GET /security-policy: how to report a vulnerability. */
import type { Config } from "../../shared/process/config.ts";
import { operation, reply } from "../http/operation.ts";
import { readStaticFile, replyFile, type StaticFile } from "../http/response/static_file.ts";

const POLICY_PATH = "/security-policy";
const DAY_MS = 86_400_000;
/** RFC 9116, 2.5.5, recommends less than a year. */
const EXPIRES_DAYS = 180;

/** Returns the text at `now`, in milliseconds since the epoch. The text and its ETag change once a day. */
function securityTxt({ publicUrl, securityContact }: Config, now: number): string {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const policy = `${publicUrl}${POLICY_PATH}`;
  return [
    `Contact: ${securityContact ?? policy}`,
    `Expires: ${new Date(today + EXPIRES_DAYS * DAY_MS).toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    `Policy: ${policy}`,
    "",
  ].join("\n");
}

/** Links on other sites may have query parameters, such as `utm_source`. */
const BASE = {
  method: "GET",
  access: "public",
  tag: "Operations",
  conditional: true,
  uncheckedQuery: {},
} as const;

export const getSecurityTxt = operation(
  {
    ...BASE,
    id: "getSecurityTxt",
    path: "/.well-known/security.txt",
    summary: "Get the security contact",
    description: "Where to report a vulnerability, as RFC 9116 defines it. `Expires` is 180 days ahead.",
    response: {
      200: {
        description: "The text",
        files: {
          "text/plain": [
            "Contact: mailto:security@example.com",
            "Expires: 2027-05-19T00:00:00.000Z",
            "Preferred-Languages: en",
            "Canonical: https://ulr.example.com/.well-known/security.txt",
            "Policy: https://ulr.example.com/security-policy\n",
          ].join("\n"),
        },
      },
    },
  },
  async (_, { config, now = Date.now }) =>
    reply(200, securityTxt(config, now()), { headers: { "Content-Type": "text/plain; charset=utf-8" } }),
);

let policy: StaticFile | undefined;

export const getSecurityPolicy = operation(
  {
    ...BASE,
    id: "getSecurityPolicy",
    path: "/security-policy",
    summary: "Get the security policy",
    description: "How to report a vulnerability, and what happens then. Markdown.",
    response: { 200: { description: "The text", files: { "text/plain": "# Security policy\n" } } },
  },
  async () => {
    policy ??= readStaticFile(new URL("../../SECURITY.md", import.meta.url));
    return replyFile(policy);
  },
);
