/** Self-signed certificates for tests, made by openssl. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

export interface Certified {
  readonly key: string;
  readonly certificate: string;
}

/** Names of files, which are deleted after the test. */
export async function certify(name = 'redis.test'): Promise<Certified> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'],
    ...['-keyout', key, '-out', certificate],
  ]);
  return { key, certificate };
}

/** Settings of a server or Sentinel with its certificate on its own port, which trusts the certificates in `trusted`. */
export const tlsFlags = (
  port: number,
  { key, certificate }: Certified,
  { trusted = certificate, asksClients = false }: { trusted?: string; asksClients?: boolean } = {},
): readonly (readonly [string, string])[] => [
  ['tls-port', String(port)],
  ['tls-cert-file', certificate],
  ['tls-key-file', key],
  ['tls-ca-cert-file', trusted],
  // The default would require a client certificate as well.
  ...(asksClients ? [] : [['tls-auth-clients', 'no'] as const]),
];

export const asArguments = (flags: readonly (readonly [string, string])[]): readonly string[] =>
  flags.flatMap(([name, value]) => [`--${name}`, value]);
