/** The command `lingua cluster`, against a real server. */
import { describe, expect, it } from 'vitest';
import { printCluster, runCluster } from '../../../src/cli/commands/cluster.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { startApp } from '../../e2e/support/start-app.ts';
import { TOKENS } from '../../transport/access/settings.ts';
import { startClusterServer } from '../../transport/http/start-cluster-server.ts';
import { startServer } from '../../transport/http/start-server.ts';
import { startStranger } from '../start-stranger.ts';
import { createTerminal } from '../terminal.ts';

async function run(...argv: readonly string[]) {
  const io = createTerminal();
  const status = await runCluster(argv, io);
  return { status, out: io.lines.join('\n'), err: io.errors };
}

it('shows all instances, unknown values, and warnings', () => {
  const page = printCluster({
    instance_id: 'a',
    store: { mode: 'cluster', ok: true },
    instances: [
      {
        instance_id: 'a',
        state: 'self',
        uptime_ms: 93_784_000,
        hostname: 'host-1',
        pid: 1,
        version: '1.2.3',
        nodes: 100,
        sessions: 20,
        jobs_in_flight: 7,
        pools_digest: '0a1b2c3d',
        inbox_messages: 3,
        inbox_pending: 1,
        dead_letters: 2,
      },
      { instance_id: 'scheduler-b', state: 'unknown', hostname: 'b\nc' },
    ],
    orphaned: [{ instance_id: 'gone', dead_letters: 1 }],
    warnings: ['look \u001b[31mhere'],
  });
  expect(page).toBe(
    `store Redis Cluster: well · answered by a

INSTANCE     STATE    UP     HOST    PID  VERSION  NODES  SESSIONS  JOBS  POOLS     INBOX  PENDING  DEAD LETTERS
a            self     1d 2h  host-1    1  1.2.3      100        20     7  0a1b2c3d      3        1             2
scheduler-b  unknown  ?      b�c       ?  ?            ?         ?     ?  -             ?        ?             ?

Left by removed instances:
  gone  1 dead letter

Warnings:
  ! look �[31mhere`,
  );
});

it('reads from a running scheduler, as a page or as JSON', async () => {
  const { url, join } = await startClusterServer();
  await join('b');
  const page = await run('--url', `${url}/`);
  expect(page).toMatchObject({ status: 0, err: [] });
  expect(page.out).toContain('store Redis: well (no replicas) · answered by a');
  expect(page.out).toMatch(/^a +self +\d+d/m);
  expect(page.out).toMatch(/^b +living +\d+d(?: \d+h)? +host-1 +4711 +1\.2\.3 +\? +\? +\? +- +0 +0 +0$/m);
  expect(page.out).toContain('No warnings.');
  const json = await run('--url', url, '--json');
  expect(JSON.parse(json.out)).toMatchObject({ instances: [{ instance_id: 'a' }, { instance_id: 'b' }] });
});

it('shows a single-instance scheduler as one process', async () => {
  const { url } = await startApp();
  const { status, out } = await run('--url', url);
  expect(status).toBe(0);
  expect(out).toContain('store embedded, a single process: well · answered by ');
  expect(out).toMatch(/ self +\d+s +\S+ +\d+ +\S+ +0 +0 +0 +- +0 +0 +0$/m);
});

it('is a command of lingua', async () => {
  const { url } = await startServer();
  const io = createTerminal();
  expect(await runCommand(['cluster', '--url', url], io)).toBe(0);
  expect(await runCommand(['cluster', '--help'], io)).toBe(0);
  expect(io.lines.at(-1)).toContain('Usage: lingua cluster');
});

describe('prints the next step', () => {
  it('when no scheduler answers', async () => {
    const { url, stop } = await startStranger(() => undefined);
    await stop();
    expect(await run('--url', url)).toMatchObject({
      status: 1,
      err: [
        `lingua cluster: no scheduler answers at ${url} (ECONNREFUSED); is it running? --url sets the address`,
      ],
    });
  });

  it('when a token is missing, unknown or of another role', async () => {
    const { url } = await startServer({ access: { tokens: TOKENS } });
    expect(await run('--url', url)).toMatchObject({
      status: 1,
      err: [
        `lingua cluster: the scheduler at ${url} requires a token: give one of role "operator" with --token-file, --token or LINGUA_TOKEN`,
      ],
    });
    expect((await run('--url', url, '--token', 'wrong-token')).err[0]).toContain('does not know this token');
    expect((await run('--url', url, '--token', 'acme-token')).err[0]).toMatch(
      /^lingua cluster: this token may not do that \(.+\); use one of server.tokens with role "operator"$/,
    );
    expect((await run('--url', url, '--token', 'operator-token')).status).toBe(0);
  });

  it('when another program or an older scheduler answers', async () => {
    const elsewhere = await startStranger((_, response) => void response.end('{"instances":[]}'));
    for (const [status, body] of [
      [200, '<html>'],
      [200, 'null'],
      [500, '{}'],
      [302, ''],
    ] as const) {
      const { url } = await startStranger(
        (_, response) => void response.writeHead(status, { location: elsewhere.url }).end(body),
      );
      expect((await run('--url', url)).err[0]).toContain(`is no Lingua scheduler (status ${status})`);
    }
    const { url } = await startServer({ services: { cluster: undefined as never } });
    expect((await run('--url', url)).err[0]).toContain('is too old for this command');
  });

  it('when its arguments are wrong', async () => {
    const wrong: readonly (readonly [string[], string])[] = [
      [['--url', 'ftp://x'], '--url must start with http:// or https://'],
      [['--url', 'http://'], '--url must start with http:// or https://'],
      [['--speed', '3'], '(--help lists the options)'],
      [['--al'], 'there is no option --al (--help lists the options)'],
      [['--all'], 'there is no option --all (--help lists the options)'],
      [['now'], '"now" is not expected here (--help lists the options)'],
    ];
    for (const [argv, problem] of wrong) {
      const { status, err } = await run(...argv);
      expect(status).toBe(2);
      expect(err[0]).toContain(problem);
    }
  });
});

it('ends when it is interrupted while it waits for an answer', async () => {
  const io = createTerminal();
  const { url } = await startStranger(() => io.interrupt());
  expect(await runCluster(['--url', url], io)).toBe(1);
  expect(io.errors).toEqual(['lingua cluster: interrupted']);
});
