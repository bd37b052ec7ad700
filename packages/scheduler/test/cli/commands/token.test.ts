/** lingua token: keys, tokens and what they say, from a configuration file and without a server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runToken } from '../../../src/cli/commands/token.ts';

async function run(...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    interrupted: AbortSignal.abort(),
  };
  return { status: await runToken(argv, io), out: out.join('\n'), err: err.join('\n') };
}

async function configured(alg: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-token-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'keys.json'), (await run('key', '--alg', alg)).out);
  const path = join(folder, 'config.toml');
  await writeFile(path, '[server]\ntoken_keys_file = "keys.json"\n');
  return path;
}

describe('lingua token', () => {
  it.each(['EdDSA', 'HS256'])('a token of a new %s key says what it was minted with', async (alg) => {
    const config = await configured(alg);
    const scope = ['--tenant', 'acme', '--session', 'room-1', '--language', 'en', '--language', 'zh'];
    const minted = await run('mint', '--user', 'ann', ...scope, '--expires', '15m', '--config', config);
    expect(minted.status).toBe(0);
    const shown = await run('inspect', minted.out, '--config', config);
    expect(shown.status).toBe(0);
    for (const word of ['ann', 'client', 'acme', 'room-1', 'en, zh']) expect(shown.out).toContain(word);
    const elsewhere = await run('inspect', minted.out, '--config', await configured(alg));
    expect(elsewhere).toMatchObject({
      status: 1,
      err: expect.stringContaining('its key is not among those'),
    });
  });

  it.each([
    [['--role', 'viewer'], 'https://lingua.example/ops/#token='],
    [['--tenant', 'acme'], 'https://lingua.example/ops/talk.html#token='],
  ])('a link for %s opens the console with the token', async (whose, link) => {
    const config = await configured('EdDSA');
    const address = 'https://lingua.example/ops/';
    const { out } = await run('mint', '--user', 'ann', ...whose, '--link', address, '--config', config);
    expect(out.startsWith(link)).toBe(true);
    expect((await run('inspect', out.slice(link.length), '--config', config)).status).toBe(0);
  });

  it.each([
    [['mint', '--tenant', 'acme'], '--user is missing'],
    [['mint', '--user', 'ann'], '--tenant is missing'],
    [['mint', '--user', 'ann', '--role', 'viewer', '--tenant', 'acme'], 'only for the role client'],
    [['mint', '--user', 'ann', '--tenant', 'acme', '--expires', '25h'], 'at most 24h'],
    [['mint', '--user', 'a b', '--tenant', 'acme'], '1 to 128 letters'],
    [['mint', '--user', 'ann', '--role', 'admin'], 'role'],
    [['mint', '--user', 'ann', '--role', 'viewer', '--link', 'here'], '--link must be the address'],
    [['key', '--alg', 'none'], '--alg must be EdDSA or HS256'],
    [['lose'], 'Usage: lingua token'],
  ])('%s is refused with advice', async (argv, advice) => {
    const { status, err } = await run(...argv);
    expect(status).toBe(2);
    expect(err).toContain(advice);
  });
});
