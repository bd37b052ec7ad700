/** Checks the tokens of the configuration and turns them into credentials without secrets. Pure. */
import { createHash } from 'node:crypto';
import type { CheckFinding } from './origin.ts';
import type { Config } from './settings.ts';
import { readTokenKeys, type TokenKey } from './token-keys.ts';

export type TokenRow = Config['server']['tokens'][number];

/** The identity of a token. The token itself is not kept; the SHA-256 of a presented token is compared. */
export interface Credential {
  readonly sha256: string;
  readonly role: TokenRow['role'];
  readonly tenant_id: string | undefined;
  readonly node_ids: readonly string[] | undefined;
  readonly pool_ids: readonly number[] | undefined;
  readonly region: string | undefined;
  readonly may_mint: boolean | undefined;
  readonly name: string | undefined;
  /** A name in a client certificate: there is no token. */
  readonly certificate: string | undefined;
}

const MIN_TOKEN_LENGTH = 16;
/** An operator's row may have a tenant, for which it then acts as a client. */
const SEES_ALL_TENANTS: ReadonlySet<TokenRow['role']> = new Set(['metrics', 'viewer', 'admin']);

export const hashToken = (token: string): string => createHash('sha256').update(token, 'utf8').digest('hex');

/** Rows whose file has not been read yet give no credential. */
export const credentialsOf = (config: Config): readonly Credential[] =>
  config.server.tokens.flatMap((row) => {
    const sha256 = digestOf(row);
    if (sha256 === undefined) return [];
    const { role, tenant_id, node_ids, pool_ids, region, may_mint, certificate, name } = row;
    return [{ sha256, role, tenant_id, node_ids, pool_ids, region, may_mint, name, certificate }];
  });

/** Empty if they are invalid, which `checkTokens` reports. */
export function tokenKeysOf({ server }: Config): readonly TokenKey[] {
  const read = server.token_keys === undefined ? undefined : readTokenKeys(server.token_keys);
  return read?.kind === 'keys' ? read.keys : [];
}

export function checkTokens(config: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  const problems: CheckFinding[] = [];
  const { token_keys: keys } = config.server;
  const read = keys === undefined ? undefined : readTokenKeys(keys);
  if (read?.kind === 'invalid') problems.push({ keys: ['server.token_keys'], message: read.message });
  const firstWith = new Map<string, number>();
  for (const [index, row] of config.server.tokens.entries()) {
    const at = `server.tokens[${index}]`;
    const refuse = (key: string, message: string): void => {
      problems.push({ keys: [key], message });
    };
    const { token, token_sha256, token_file, certificate, role, tenant_id } = row;
    if ([token, token_sha256, token_file, certificate].filter((part) => part !== undefined).length !== 1) {
      refuse(at, 'needs exactly one of token, token_sha256, token_file, certificate');
    }
    if (certificate !== undefined && role !== 'node') {
      refuse(`${at}.certificate`, `is only for the role node, not ${role}: use a token`);
    }
    if (certificate !== undefined && config.server.tls.client_ca_file === undefined) {
      refuse(`${at}.certificate`, 'needs server.tls.client_ca_file, whose authorities sign the certificates');
    }
    if (token !== undefined) refuseWeak(token, (message) => refuse(`${at}.token`, message));
    if (role === 'client' && tenant_id === undefined) {
      refuse(`${at}.tenant_id`, 'is missing: a client token needs its tenant');
    }
    if (tenant_id !== undefined && SEES_ALL_TENANTS.has(role)) {
      refuse(`${at}.tenant_id`, `is not for the role ${role}, which sees all tenants; remove it`);
    }
    for (const name of ['node_ids', 'pool_ids', 'region'] as const) {
      if (row[name] === undefined) continue;
      if (role !== 'node') refuse(`${at}.${name}`, `is only for the role node, not ${role}`);
    }
    if (row.may_mint === true && role !== 'client')
      refuse(`${at}.may_mint`, `is only for the role client, not ${role}`);
    if (row.pool_ids?.length === 0)
      refuse(`${at}.pool_ids`, 'is empty; name at least one pool, or remove it');
    const digest = digestOf(row);
    if (digest === undefined) continue;
    const first = firstWith.get(digest);
    if (first !== undefined)
      refuse(
        at,
        `has the same ${row.certificate === undefined ? 'token' : 'certificate'} as server.tokens[${first}]`,
      );
    else firstWith.set(digest, index);
  }
  return { problems, warnings: [] };
}

/** Fills in the contents of token files, by the index of their row. */
export const withTokens = (config: Config, contents: ReadonlyMap<number, string>): Config => ({
  ...config,
  server: {
    ...config.server,
    tokens: config.server.tokens.map((row, index) => {
      const token = contents.get(index);
      return token === undefined ? row : { ...row, token, token_file: undefined };
    }),
  },
});

function digestOf({ token, token_sha256, certificate }: TokenRow): string | undefined {
  if (certificate !== undefined) return hashToken(`certificate ${certificate.toLowerCase()}`);
  return token === undefined ? token_sha256?.toLowerCase() : hashToken(token);
}

function refuseWeak(token: string, refuse: (message: string) => void): void {
  if (token.length < MIN_TOKEN_LENGTH) {
    refuse(`is ${token.length} characters long, at least ${MIN_TOKEN_LENGTH} are needed`);
  } else if (!/^[\x21-\x7e]+$/.test(token)) {
    refuse('may have only visible ASCII characters: it travels in a header');
  }
}
