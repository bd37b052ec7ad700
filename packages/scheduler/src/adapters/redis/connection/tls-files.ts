/** Cold path, at the start: certificates and key for TLS, read once. What cannot be used is named by its setting, before anybody connects. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** Names of files, as configured. */
export interface TlsFiles {
  readonly tls_ca_file?: string | undefined;
  readonly tls_cert_file?: string | undefined;
  readonly tls_key_file?: string | undefined;
}

/** What is in them. */
export interface TlsParts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export function readTlsFiles(files: TlsFiles): TlsParts {
  // A list of authorities without any is no fault to Node.js, which would then trust nobody.
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
    throw new Error(`scheduler.phase2.redis.${what}: ${why}`, { cause });
  }
}
