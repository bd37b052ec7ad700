/** Cold path: reads certificates and keys for TLS. A fault names the setting. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

const PARTS = ['ca', 'client_ca', 'cert', 'key'] as const;
type Part = (typeof PARTS)[number];

/** Configured file names. */
export type TlsFiles = { readonly [part in Part]?: string | undefined };
/** Contents of the files. */
export type TlsParts = { readonly [part in Part]?: string };

/** Names of settings are the group, the part and `_file`: `server.tls.` and `cert` are server.tls.cert_file. */
export function readTlsFiles(group: string, files: TlsFiles): TlsParts {
  const parts: { [part in Part]?: string } = {};
  for (const part of PARTS) {
    const path = files[part];
    if (path === undefined) continue;
    const setting = `${group}${part}_file`;
    const text = explained(`${setting} cannot be read`, () => readFileSync(path, 'utf8'));
    explained(`${setting} cannot be used: ${path}`, () => check(part, text));
    parts[part] = text;
  }
  const { cert, key } = parts;
  if (cert !== undefined && key !== undefined) {
    const what = `${group}cert_file and ${group}key_file do not belong together`;
    explained(what, () => createSecureContext({ cert, key }));
  }
  return parts;
}

function check(part: Part, text: string): void {
  if (part === 'cert') createSecureContext({ cert: text });
  else if (part === 'key') createSecureContext({ key: text });
  // Node.js accepts a file without any certificate authority, and would then reject every peer.
  else new X509Certificate(text);
}

/** A text that differs after a file was replaced or changed. An absent file counts as changed when it is back. */
export const stampOf = (files: TlsFiles): string =>
  PARTS.flatMap((part) => files[part] ?? [])
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((found) => (found === undefined ? '' : [found.ino, found.mtimeMs, found.size].join(' ')))
    .join();

function explained<T>(what: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${what}: ${why}`, { cause });
  }
}
