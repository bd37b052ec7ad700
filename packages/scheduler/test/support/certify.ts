/** Self-signed certificates for tests, in folders that are deleted after the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Certified, certify as certifyIn } from '../../../../proof/src/attacks/certify.ts';

export type { Certified };

export async function certify(name = 'redis.test'): Promise<Certified> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return certifyIn(folder, name);
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
