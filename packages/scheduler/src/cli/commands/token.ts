/** The command `lingua token`: makes keys and short-lived tokens, and shows what a token says. Works without a server. */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { DEFAULT_TOKEN_SECONDS, LONGEST_TOKEN_SECONDS, TokenClaims, validator } from '@lingua/protocol';
import { tokenKeysOf } from '../../config/tokens.ts';
import { mintToken, verifyToken } from '../../transport/access/minted-tokens.ts';
import { omitUndefined } from '../../transport/wire/omit-undefined.ts';
import type { CommandIo } from '../command-io.ts';
import { readDuration } from '../duration.ts';
import { parseFlags } from '../parse-flags.ts';
import { printFields } from '../print-fields.ts';
import { readServerConfig } from '../server-flags.ts';

export const TOKEN_USAGE = `Usage: lingua token key [--alg EdDSA|HS256]
       lingua token mint --user USER [--role client|viewer|operator] [--tenant TENANT] [options]
       lingua token inspect TOKEN [--config FILE]

key prints a new key as a JSON Web Key Set, for the file that server.token_keys_file names. The first key of the file signs, all
verify: to change keys, put the new one first, reload, and remove the old one a day later.
mint signs a token with the keys of the configuration; every instance with these keys accepts it until it expires.
inspect shows what a token says, and whether the keys of the configuration accept it.

  --config FILE      configuration file (./config.toml if there is one)
  --session SESSION  the only session that a client may use
  --language TAG     a language that a client may use, may be repeated; absent: all
  --expires TIME     such as 15m or 8h, at most 24h (1h if absent)
  --link URL         prints a link that opens the console at this address and logs in with the token
  --help             this text`;

const OPTIONS = {
  alg: { type: 'string' },
  user: { type: 'string' },
  role: { type: 'string' },
  tenant: { type: 'string' },
  session: { type: 'string' },
  language: { type: 'string', multiple: true },
  expires: { type: 'string' },
  link: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = {
  readonly [Name in Exclude<keyof typeof OPTIONS, 'language' | 'help'>]?: string | undefined;
} & { readonly language?: readonly string[] | undefined };

export async function runToken(argv: readonly string[], io: CommandIo): Promise<number> {
  const parsed = parseFlags(argv, OPTIONS, { allowsWords: true });
  if (typeof parsed === 'string') return wrong(io, parsed);
  const { values, positionals } = parsed;
  if (values.help === true) {
    io.out(TOKEN_USAGE);
    return 0;
  }
  const [verb, token, ...more] = positionals;
  if (verb === 'key' && token === undefined) return makeKey(values, io);
  if (verb === 'mint' && token === undefined) return mint(values, io);
  if (verb === 'inspect' && token !== undefined && more.length === 0) return inspect(token, values, io);
  io.err(TOKEN_USAGE);
  return 2;
}

function makeKey({ alg = 'EdDSA' }: Values, io: CommandIo): number {
  const kid = `${new Date().toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;
  const key =
    alg === 'HS256'
      ? { kty: 'oct', k: randomBytes(32).toString('base64url') }
      : alg === 'EdDSA'
        ? generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
        : undefined;
  if (key === undefined) return wrong(io, `--alg must be EdDSA or HS256, got "${alg}"`);
  io.out(JSON.stringify({ keys: [{ kid, alg, ...key }] }, undefined, 2));
  return 0;
}

async function mint(values: Values, io: CommandIo): Promise<number> {
  const { user, role = 'client', tenant, session, language: languages, expires } = values;
  const seconds = expires === undefined ? DEFAULT_TOKEN_SECONDS : (readDuration(expires) ?? 0) / 1_000;
  if (user === undefined) return wrong(io, '--user is missing: whose token is it?');
  if (seconds < 1 || seconds > LONGEST_TOKEN_SECONDS)
    return wrong(io, '--expires must be a time such as 15m or 8h, at most 24h');
  if (values.link !== undefined && !/^https?:\/\/[^/#?]/.test(values.link))
    return wrong(
      io,
      `--link must be the address of the console, such as https://lingua.example, got "${values.link}"`,
    );
  const isClient = role === 'client';
  if (isClient && tenant === undefined) return wrong(io, '--tenant is missing: a client needs its tenant');
  if (!isClient && (tenant ?? session ?? languages) !== undefined)
    return wrong(io, '--tenant, --session and --language are only for the role client');
  const iat = Math.floor(Date.now() / 1_000);
  const exp = iat + Math.floor(seconds);
  const scope = { tenant_id: tenant, session_id: session, languages };
  const claims = readClaims(
    omitUndefined({ sub: user, role, ...scope, by: 'cli', jti: randomUUID(), iat, exp }),
  );
  if (!claims.ok) return wrong(io, claims.problem.message);
  const keys = await keysOf(values, io);
  if (keys === undefined) return 2;
  const token = await mintToken(keys, claims.value as TokenClaims);
  io.out(values.link === undefined ? token : linkOf(values.link, isClient, token));
  return 0;
}

/** Browsers do not send what follows # to the server. A client may use only the page Talk. */
const linkOf = (url: string, isClient: boolean, token: string): string =>
  `${url.replace(/\/+$/, '')}/${isClient ? 'talk.html' : ''}#token=${token}`;

const readClaims = validator(TokenClaims);

async function inspect(token: string, values: Values, io: CommandIo): Promise<number> {
  const keys = await keysOf(values, io);
  if (keys === undefined) return 2;
  const verified = await verifyToken(keys, token, Date.now());
  if (verified.kind !== 'valid') {
    io.err(`lingua token: it is refused: ${verified.message}`);
    return 1;
  }
  const { claims, key } = verified;
  io.out(
    printFields([
      ['user', claims.sub],
      ['role', claims.role],
      ['tenant', claims.tenant_id],
      ['session', claims.session_id],
      ['languages', claims.languages?.join(', ')],
      ['minted by', claims.by],
      ['minted at', new Date(claims.iat * 1_000).toISOString()],
      ['expires at', new Date(claims.exp * 1_000).toISOString()],
      ['key', key.id],
      ['number', claims.jti],
    ]),
  );
  return 0;
}

async function keysOf({ config: path }: Values, io: CommandIo) {
  const ready = await readServerConfig({ path, flags: [] }, io);
  if (ready === undefined) return undefined;
  const keys = tokenKeysOf(ready.config);
  if (keys.length > 0) return keys;
  io.err(
    'lingua token: the configuration has no keys: set server.token_keys_file ("lingua token key" makes one)',
  );
  return undefined;
}

function wrong(io: CommandIo, problem: string): number {
  io.err(`lingua token: ${problem}`);
  return 2;
}
