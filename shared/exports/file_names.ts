/** Creates file names from user input. */
import { normalizeText } from "../characters.ts";

const MAX_NAME_LENGTH = 80;
/** Names that Windows reserves for devices, with or without an extension. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

/**
 * Returns a project's name as a path segment that every operating system accepts. It consists of ASCII letters, digits, `.`,
 * `_` and `-`. It is never empty, hidden or a device name. Accents are removed: `Café` becomes `Cafe`.
 */
export function sanitizeProjectName(name: string): string {
  const sanitized = normalizeText(name, "NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]/gu, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, MAX_NAME_LENGTH);
  return sanitized === "" || WINDOWS_DEVICE.test(sanitized) ? "project" : sanitized;
}

/** Formats a watermark for a file name, in seconds: `2026-11-20T100000Z`. */
export function exportFileStamp(asOf: string): string {
  return asOf.replaceAll(":", "").replace(/\.\d+/, "");
}

/** Returns the file name of an organization export. */
export function orgExportFileName({ slug, asOf }: { slug: string; asOf: string }): string {
  return `${slug}-export-${exportFileStamp(asOf)}.zip`;
}

/** Returns an `attachment` header value with an ASCII name and the full name (RFC 6266, RFC 5987). */
export function contentDisposition(names: { ascii: string; full: string }): string {
  const encoded = encodeURIComponent(names.full.replace(/[\p{Cc}\p{Bidi_C}/\\]/gu, "-")).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${names.ascii}"; filename*=UTF-8''${encoded}`;
}
