/** Cold path, at the start: reads certificates and key for TLS once. A fault names the setting, before any connection is made. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** Configured file names. */
export interface TlsFiles {
  readonly tls_ca_file?: string | undefined;
  readonly tls_cert_file?: string | undefined;
  readonly tls_key_file?: string | undefined;
}

/** Contents of the files. */
export interface TlsParts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export function readTlsFiles(files: TlsFiles): TlsParts {
  // Node.js accepts a file without any certificate authority, and would then reject every server.
  const ca = read(files, 'tls_ca_file', (text) => new X509Certificate(text));
  const cert = read(files, 'tls_cert_file', (text) => createSecureContext({ cert: text }));
  const key = read(files, 'tls_key_file', (text) => createSecureContext({ key: text }));
  const own = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  explained('tls_cert_file and tls_key_file do not belong together', () => createSecureContext(own));
  return { ...(ca !== undefined && { ca }), ...own };
}

function read(files: TlsFiles, name: keyof TlsFiles, use: (text: string) => unknown): string | undefined {
  const path = files[name];
  if (path === undefined) return undefined;
  const text = explained(`${name} cannot be read`, () => readFileSync(path, 'utf8'));
  explained(`${name} cannot be used: ${path}`, () => use(text));
  return text;
}

function explained<T>(what: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`scheduler.cluster.redis.${what}: ${why}`, { cause });
  }
}
