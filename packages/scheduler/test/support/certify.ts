/** Certificates for tests, signed by themselves, made by openssl. */
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

/** Names of files, which are gone after the test. */
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

/** A server or Sentinel that shows its certificate on a port of its own, and trusts whom `trusted` names. */
export const tlsFlags = (
  port: number,
  { key, certificate }: Certified,
  { trusted = certificate, asksClients = false }: { trusted?: string; asksClients?: boolean } = {},
): readonly (readonly [string, string])[] => [
  ['tls-port', String(port)],
  ['tls-cert-file', certificate],
  ['tls-key-file', key],
  ['tls-ca-cert-file', trusted],
  // Without a word about it, clients have to show one, too.
  ...(asksClients ? [] : [['tls-auth-clients', 'no'] as const]),
];

export const asArguments = (flags: readonly (readonly [string, string])[]): readonly string[] =>
  flags.flatMap(([name, value]) => [`--${name}`, value]);
