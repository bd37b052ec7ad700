/** Receivers of webhooks in the configuration: what is refused, and their files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { eventsOf } from '../../src/config/settings/check-webhooks.ts';
import { configOf, problemsOf, warningsOf } from './loaded.ts';

const SECRET = 's'.repeat(32);
const NETWORKS = '[server]\nendpoint_networks = ["10.0.0.0/8"]\n';
const row = (...lines: string[]): string => ['[[webhooks.receivers]]', ...lines, ''].join('\n');
const URL_LINE = 'url = "https://10.0.0.1/hooks"';
const SECRET_LINE = `secret = "${SECRET}"`;

describe('receivers of webhooks', () => {
  it('get all events of their kind unless events are named', () => {
    const { webhooks } = configOf(
      NETWORKS + row(URL_LINE, SECRET_LINE) + row(URL_LINE, SECRET_LINE, 'tenant_id = "acme"'),
    );
    expect(webhooks.receivers.map(eventsOf)).toEqual([
      ['node_lost', 'quota_reached'],
      ['job_ended', 'room_ended'],
    ]);
  });

  it.each([
    ['no secret', NETWORKS + row(URL_LINE), 'needs exactly one of secret, secret_file'],
    ['a short secret', NETWORKS + row(URL_LINE, 'secret = "short"'), '32 to 256 characters'],
    ['a password', NETWORKS + row('url = "https://u:p@10.0.0.1/"', SECRET_LINE), 'user or password'],
    [
      'an event of tenants without one',
      NETWORKS + row(URL_LINE, SECRET_LINE, 'events = ["job_ended"]'),
      'contains job_ended, which needs tenant_id',
    ],
    [
      'an event of operators for a tenant',
      NETWORKS + row(URL_LINE, SECRET_LINE, 'tenant_id = "a"', 'events = ["node_lost"]'),
      'contains node_lost, which is for operators',
    ],
    ['texts for operators', NETWORKS + row(URL_LINE, SECRET_LINE, 'texts = true'), 'needs tenant_id'],
    [
      'the same address twice',
      NETWORKS + row(URL_LINE, SECRET_LINE) + row(URL_LINE, SECRET_LINE),
      'has the url and tenant_id of webhooks.receivers[0]',
    ],
  ])('are refused for %s', (_, text, problem) => {
    const problems = problemsOf(text).join('\n');
    expect(problems).toContain(problem);
    expect(problems).not.toContain(SECRET);
  });

  it('cause a warning if no network is permitted', () => {
    expect(warningsOf(row(URL_LINE, SECRET_LINE)).join('\n')).toContain(
      'gets nothing before server.endpoint_networks contains the network of 10.0.0.1',
    );
  });

  it('have their secret from a file beside the configuration', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-webhooks-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'config.toml');
    await writeFile(path, NETWORKS + row(URL_LINE, 'secret_file = "hook.key"'));
    const problemOf = async () => {
      const read = await readConfig({ path });
      return read.kind === 'invalid' ? read.problems.map(({ message }) => message).join('\n') : read.config;
    };
    expect(await problemOf()).toContain('cannot be read: hook.key: ENOENT');
    await writeFile(join(folder, 'hook.key'), 'short\n', { mode: 0o600 });
    expect(await problemOf()).toContain('32 to 256 characters');
    await writeFile(join(folder, 'hook.key'), `${SECRET}\n`);
    expect(await problemOf()).toMatchObject({ webhooks: { receivers: [{ secret: SECRET }] } });
  });
});
