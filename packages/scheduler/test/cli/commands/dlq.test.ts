/** The command `lingua dlq`, against a real server. */
import { describe, expect, it } from 'vitest';
import { runDlq } from '../../../src/cli/commands/dlq.ts';
import { TOKENS } from '../../transport/access/settings.ts';
import { AUDIO, LETTER, SAID, startClusterServer } from '../../transport/http/start-cluster-server.ts';
import { startStranger } from '../start-stranger.ts';
import { createTerminal } from '../terminal.ts';

async function start(options: Parameters<typeof startClusterServer>[0] = {}) {
  const server = await startClusterServer(options);
  async function dlq(...argv: readonly string[]) {
    const io = createTerminal();
    const status = await runDlq([...argv, '--url', server.url], io);
    return { status, out: io.lines.join('\n'), err: io.errors };
  }
  const ids = async (): Promise<string[]> =>
    JSON.parse((await dlq('list', '--json')).out).letters.map(({ id }: { id: string }) => id);
  return { ...server, dlq, ids };
}

describe('lingua dlq list', () => {
  it('shows kinds and ids of messages, never their text', async () => {
    const { dlq, die } = await start();
    await die('a', LETTER, 'x');
    const { status, out, err } = await dlq('list');
    expect({ status, err }).toEqual({ status: 0, err: [] });
    const [head, bare, whole, , last] = out.split('\n');
    expect(head).toMatch(/^ID +ABOUT +JOB +NODE +FROM +BYTES +TRIES +DEAD FOR$/);
    expect(bare).toMatch(/^a:\d+-\d+ +\? +- +- +\? +1 +1 +0s$/);
    expect(whole).toMatch(/^a:\d+-\d+ +job_result +job-1 +node-1 +b +\d+ +1 +0s$/);
    expect(last).toBe('2 dead letters.');
    expect(out).not.toContain(SAID);
  });

  it('prints a note when there are none', async () => {
    const { dlq } = await start();
    expect(await dlq('list')).toEqual({ status: 0, out: 'No dead letters.', err: [] });
  });

  it('filters by instance and age, up to a number', async () => {
    const { dlq, join, die } = await start();
    await join('b');
    await die('a', '1', '2', '3');
    await die('b', '4');
    expect((await dlq('list', '--instance', 'b')).out).toContain('1 dead letter.');
    expect((await dlq('list', '--older-than', '1h')).out).toBe('No dead letters.');
    expect((await dlq('list', '--limit', '3')).out).toContain('3 dead letters, and there are more');
    expect((await dlq('list', '--limit', '4')).out).toContain('\n4 dead letters.');
  });

  it('reads all pages', async () => {
    const { dlq, join, die } = await start();
    await join('b');
    for (const name of ['a', 'b']) await die(name, ...Array.from({ length: 600 }, () => 'x'));
    const listed = JSON.parse((await dlq('list', '--limit', '10000', '--json')).out);
    expect(listed.letters).toHaveLength(1_200);
    expect(new Set(listed.letters.map(({ id }: { id: string }) => id)).size).toBe(1_200);
    expect(listed.is_cut).toBe(false);
    expect((await dlq('list', '--limit', '1000')).out).toContain('1000 dead letters, and there are more');
  });
});

describe('lingua dlq show', () => {
  it('shows a message without its audio, or with it on request', async () => {
    const { dlq, die, ids } = await start();
    await die('a', LETTER);
    const [id = ''] = await ids();
    const shown = await dlq('show', id);
    expect(shown.status).toBe(0);
    expect(shown.out).toContain(`"textAsr": "${SAID}"`);
    expect(shown.out).toContain('"ttsAudio": "[16 characters]"');
    expect((await dlq('show', id, '--raw')).out).toContain(AUDIO);
    expect(JSON.parse((await dlq('show', id, '--json')).out)).toMatchObject({ id, body: { from: 'b' } });
  });

  it('escapes control characters of a message', async () => {
    const { dlq, die, ids } = await start();
    await die('a', '\u009b31m \u001b[2J');
    expect((await dlq('show', ...(await ids()), '--raw')).out).toContain('�31m �[2J');
  });

  it('reports an unknown message and an invalid id', async () => {
    const { dlq } = await start();
    const { status, err } = await dlq('show', 'a:1-1');
    expect(status).toBe(1);
    expect(err[0]).toMatch(/^lingua dlq: there is no such dead letter\. It was replayed or purged/);
    expect((await dlq('show', 'nonsense/../x')).err[0]).toContain('as the list of dead letters shows it');
    expect((await dlq('show')).status).toBe(2);
    expect((await dlq('show', 'a:1-1', 'a:1-2')).status).toBe(2);
  });
});

describe('lingua dlq replay', () => {
  it('sends messages to the inbox of their instance or of another', async () => {
    const { dlq, join, die, ids, arrived, goForGood } = await start();
    const gone = await join('gone');
    await die('a', 'mine');
    await die('gone', 'left');
    await goForGood(gone);
    const [mine = '', left = ''] = await ids();
    const { status, out } = await dlq('replay', left, mine);
    expect(status).toBe(0);
    expect(out).toBe(`${left} → inbox of a\n${mine} → inbox of a\n2 dead letters replayed.`);
    expect(await arrived('a')).toEqual(['left', 'mine']);
  });

  it('replays messages by instance, by age, or all', async () => {
    const { dlq, join, die, arrived } = await start();
    await join('b');
    await die('a', '1', '2');
    await die('b', '3');
    expect((await dlq('replay', '--older-than', '1h')).out).toBe('0 dead letters replayed.');
    expect((await dlq('replay', '--instance', 'b')).out).toContain('1 dead letter replayed.');
    const all = JSON.parse((await dlq('replay', '--all', '--json')).out);
    expect(all).toMatchObject({ replayed: [{ to: 'a' }, { to: 'a' }], failed: [] });
    expect(await arrived('a')).toEqual(['2', '1']);
    expect(await arrived('b')).toEqual(['3']);
  });

  it('replays what it can, reports the rest, and returns 1', async () => {
    const { dlq, die, ids, inbox } = await start({ maxMessages: 1 });
    await die('a', '1');
    await die('a', '2');
    const [second = '', first = ''] = await ids();
    const { status, out, err } = await dlq('replay', 'a:1-1', first, second);
    expect(status).toBe(1);
    expect(out).toContain('1 dead letter replayed.');
    expect(err).toHaveLength(2);
    expect(err[0]).toContain('lingua dlq: a:1-1: there is no such dead letter');
    expect(err[1]).toContain(`lingua dlq: ${second}: the inbox of a is full. The message is still`);
    expect((await inbox.size('a')).messages).toBe(1);
  });

  it('stops when the scheduler no longer answers', async () => {
    let asked = 0;
    const { url } = await startStranger((request) => {
      asked += 1;
      request.socket.destroy();
    });
    const io = createTerminal();
    expect(await runDlq(['replay', 'a:1-1', 'a:1-2', '--url', url], io)).toBe(1);
    expect(io.errors).toHaveLength(1);
    expect(asked).toBe(1);
  });
});

describe('lingua dlq purge', () => {
  it('removes messages by instance, by age, or all', async () => {
    const { dlq, join, die, ids } = await start();
    await join('b');
    await die('a', '1', '2');
    await die('b', '3');
    expect(await dlq('purge', '--older-than', '2d')).toMatchObject({
      status: 0,
      out: '0 dead letters purged.',
    });
    expect((await dlq('purge', '--instance', 'b')).out).toBe('1 dead letter purged.');
    expect(JSON.parse((await dlq('purge', '--all', '--json')).out)).toEqual({ purged: 2, unreachable: [] });
    expect(await ids()).toEqual([]);
  });

  it('repeats until all are removed', async () => {
    const { dlq, join, die, ids } = await start();
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g']) {
      await join(name);
      await die(name, ...Array.from({ length: 1_000 }, () => 'x'));
    }
    expect((await dlq('purge', '--all')).out).toBe('6000 dead letters purged.');
    expect(await ids()).toEqual([]);
  });
});

describe('lingua dlq', () => {
  it.each([
    [[], 'an action is missing: use list, show, replay or purge'],
    [['drop'], 'there is no "drop": use list, show, replay or purge'],
    [['toString'], 'there is no "toString"'],
    [['purge'], 'give --instance, --older-than or --all'],
    [['purge', 'a:1-1'], '"a:1-1" is not expected here'],
    [['purge', '--all', '--instance', 'a'], '--all cannot be combined with --instance or --older-than'],
    [['purge', '--older-than', '5'], '--older-than must be a duration'],
    [['replay'], 'give --instance, --older-than or --all, or IDs'],
    [['replay', 'a:1-1', '--all'], 'give either IDs or a scope, not both'],
    [['replay', '--all', '--limit', '3'], '--limit does not apply here'],
    [['list', '--limit', '0'], '--limit must be a whole number from 1 to 10000'],
    [['list', '--raw'], '--raw does not apply here'],
    [['list', 'x'], '"x" is not expected here'],
    [['show', 'a:1-1', '--all'], '--all does not apply here'],
    [['list', '--fast'], '(--help lists the options)'],
  ])('refuses %j with a helpful message', async (argv, problem) => {
    const { dlq, die, ids } = await start();
    await die('a', 'x');
    const { status, err, out } = await dlq(...argv);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err[0]).toContain(problem);
    expect(await ids()).toHaveLength(1);
  });

  it('prints its help', async () => {
    const io = createTerminal();
    expect(await runDlq(['--help'], io)).toBe(0);
    expect(io.lines[0]).toContain('Usage: lingua dlq list|show|replay|purge');
    expect(io.lines[0]).toContain('A replayed message is handled like any other');
  });

  it('requires the token of an operator', async () => {
    const { dlq } = await start({ access: { tokens: TOKENS } });
    expect((await dlq('list')).err[0]).toContain('give one of role "operator" with --token');
    expect((await dlq('purge', '--all', '--token', 'node-token')).status).toBe(1);
    expect((await dlq('list', '--token', 'operator-token')).status).toBe(0);
  });

  it('reports instances that did not answer, and returns 1', async () => {
    const reply = JSON.stringify({ letters: [], unreachable: ['b'] });
    const { url } = await startStranger((_, response) => void response.end(reply));
    const io = createTerminal();
    expect(await runDlq(['list', '--url', url], io)).toBe(1);
    expect(io.errors).toEqual([
      'lingua dlq: no answer in time for: b; try again when "lingua cluster" shows them',
    ]);
  });
});
