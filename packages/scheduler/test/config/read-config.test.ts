/** Reading from disk: the file, a missing file, token files. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printFinding } from '../../src/config/origin.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { credentialsOf, hashToken } from '../../src/config/tokens.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingua-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

const write = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};

it('reads the requested file', async () => {
  const path = await write('a.toml', '[server]\nport = 6000');
  expect(await readConfig({ path })).toMatchObject({ kind: 'ok', config: { server: { port: 6000 } } });
});

it('fails if the requested file does not exist', async () => {
  const result = await readConfig({ path: join(folder, 'absent.toml') });
  expect(result.kind === 'invalid' && result.problems.map(printFinding)).toEqual([
    expect.stringContaining('absent.toml cannot be read: ENOENT'),
  ]);
});

it('reads token files beside the configuration file and drops their paths', async () => {
  await write('node.token', 'a-token-from-a-file\n');
  const path = await write('b.toml', '[[server.tokens]]\ntoken_file = "node.token"\nrole = "node"');
  const result = await readConfig({ path });
  if (result.kind !== 'ok') throw new Error('invalid');
  expect(credentialsOf(result.config)[0]?.sha256).toBe(hashToken('a-token-from-a-file'));
});

it('reads the key of signed callbacks from its file', async () => {
  const key = 'k'.repeat(32);
  await write('callback.key', `${key}\n`);
  await write('weak.key', 'weak');
  const read = async (lines: string) => readConfig({ path: await write('k.toml', `[server]\n${lines}`) });
  expect(await read('callback_key_file = "callback.key"')).toMatchObject({
    kind: 'ok',
    config: { server: { callback_key: key } },
  });
  for (const [lines, message] of [
    ['callback_key_file = "gone.key"', 'cannot be read: gone.key: ENOENT'],
    ['callback_key_file = "weak.key"', 'weak.key must contain 32 to 256 characters without spaces'],
    [`callback_key_file = "callback.key"\ncallback_key = "${key}"`, 'cannot be given together with'],
  ] as const) {
    const result = await read(lines);
    expect(result.kind === 'invalid' && result.problems.map(printFinding)).toEqual([
      expect.stringContaining(message),
    ]);
  }
});

it('refuses token files that are absent, too short or repeated', async () => {
  await write('short.token', 'short');
  await write('long.token', 'long-enough-for-a-token');
  const row = (file: string) => `[[server.tokens]]\ntoken_file = "${file}"\nrole = "node"\n`;
  const path = await write(
    'c.toml',
    ['gone.token', 'short.token', 'long.token', 'long.token'].map(row).join(''),
  );
  const result = await readConfig({ path });
  expect(result.kind === 'invalid' && result.problems.map(({ key, message }) => `${key} ${message}`)).toEqual(
    [
      'server.tokens[0].token_file cannot be read: gone.token: ENOENT',
      'server.tokens[1].token is 5 characters long, at least 16 are needed',
      'server.tokens[3] has the same token as server.tokens[2]',
    ],
  );
});

it('warns about files with secrets that every user can read', async () => {
  const names = ['open.token', 'closed.token', 'open.key'];
  const jwks = { keys: [{ kid: 'k', alg: 'HS256', kty: 'oct', k: Buffer.alloc(32).toString('base64url') }] };
  await chmod(await write('open.jwks', JSON.stringify(jwks)), 0o644);
  for (const name of names) await write(name, `${name}-0123456789-0123456789-0123456789`);
  await chmod(join(folder, 'open.token'), 0o644);
  await chmod(join(folder, 'closed.token'), 0o640);
  await chmod(join(folder, 'open.key'), 0o604);
  const rows = ['open', 'closed'].map(
    (name) => `[[server.tokens]]\ntoken_file = "${name}.token"\nrole = "node"`,
  );
  const server = '[server]\ncallback_key_file = "open.key"\ntoken_keys_file = "open.jwks"\n';
  const result = await readConfig({ path: await write('w.toml', server + rows.join('\n')) });
  if (result.kind !== 'ok') throw new Error('invalid');
  expect(result.warnings.map(printFinding)).toEqual([
    expect.stringMatching(
      /^server\.tokens\[0\]\.token_file may be read by every user .*mode 0644\): chmod 600/,
    ),
    expect.stringMatching(/^server\.callback_key_file may be read by every user .*mode 0604\)/),
    expect.stringMatching(/^server\.token_keys_file may be read by every user .*mode 0644\)/),
  ]);
});

it('warns once if every user can read the tokens in the configuration itself', async () => {
  const row = '[[server.tokens]]\nrole = "node"\n';
  const inFile = [1, 2].map((number) => `${row}token = "inline-token-${number}-0123456789"\n`).join('');
  const path = await write('x.toml', inFile);
  const warnings = async () => {
    const result = await readConfig({ path });
    return result.kind === 'ok' ? result.warnings.map(printFinding) : ['invalid'];
  };
  await chmod(path, 0o644);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^server\.tokens may be read by every user .*chmod 600 x\.toml/),
  ]);
  await chmod(path, 0o600);
  expect(await warnings()).toEqual([]);
  await chmod(await write('x.toml', `${row}token_sha256 = "${'a'.repeat(64)}"\n`), 0o644);
  expect(await warnings()).toEqual([]);
});

it('files of TLS are relative to the configuration file', async () => {
  const path = await write('t.toml', '[server.tls]\ncert_file = "a.pem"\nkey_file = "/etc/b.pem"');
  expect(await readConfig({ path })).toMatchObject({
    config: {
      server: { tls: { cert_file: join(folder, 'a.pem'), key_file: '/etc/b.pem', ca_file: undefined } },
    },
  });
});

it.each([
  ['[server.tls]\ncert_file = "a.pem"', 'server.tls.cert_file needs server.tls.key_file beside it'],
  [
    '[server.tls]\nclient_ca_file = "a.pem"',
    'server.tls.client_ca_file needs server.tls.cert_file beside it',
  ],
  [
    '[[server.tokens]]\ncertificate = "gpu-1"\nrole = "node"',
    'server.tokens[0].certificate needs server.tls.client_ca_file',
  ],
  [
    '[[server.tokens]]\ncertificate = "gpu-1"\nrole = "operator"',
    'server.tokens[0].certificate is only for the role node, not operator: use a token',
  ],
  [
    '[[server.tokens]]\ncertificate = "gpu-1"\ntoken = "token-0123456789"\nrole = "node"',
    'server.tokens[0] needs exactly one of token, token_sha256, token_file, certificate',
  ],
])('%s is refused', async (text, message) => {
  const result = await readConfig({ path: await write('x.toml', text) });
  expect(result.kind === 'invalid' && result.problems.map(printFinding).join('\n')).toContain(message);
});
