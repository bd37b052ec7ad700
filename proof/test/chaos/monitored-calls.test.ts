/**
 * The commands that Redis servers report by MONITOR show which instance wrote to which, and when; the checker judges them like
 * simulated messages.
 */
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRecorder, type HistoryEvent } from '../../../packages/simulation/dist/history.js';
import { instanceNames, readCall, withMessages } from '../../src/chaos/watch/monitored-calls.ts';
import { sendingScript, watchCalls } from '../../src/chaos/watch/watch-calls.ts';
import { checkHistory } from '../../src/checker/check-history.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { eventually } from '../../src/eventually.ts';

const SENDS = { digest: 'd1', name: 'send-messages' };
const inboxOf = (id: string): string => `lingua:streams:{instance:${id}}:inbox`;
/** As a server writes a string into its reply to MONITOR. */
const quoted = (word: string): string => `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
const line = (at: string, words: readonly string[], source = '127.0.0.1:4711'): string =>
  `+${at} [0 ${source}] ${words.map(quoted).join(' ')}\r`;
const message = (from: string, said = 'x'): string =>
  `job-1 ${JSON.stringify({ topic: 'assign', from, body: { said: `"from":"nobody" ${said}` } })}`;
const sending = (to: string, ...bodies: readonly string[]): string[] => [
  ...['evalsha', SENDS.digest, '1', inboxOf(to), '1000', 'group', 'reader', 'channel', '256'],
  ...bodies,
];

describe('a reported command', () => {
  it('is one message per body, with sender, receiver and server time', () => {
    const call = readCall(
      line('1700000000.250000', sending('host-b', message('host-a'), message('host-a'))),
      SENDS,
    );
    const sent = { from: 'host-a', to: 'host-b', atMs: 1_700_000_000_250 };
    expect(call).toEqual({ messages: [sent, sent] });
  });

  it('is the same when the whole script is sent', () => {
    const words = ['EVAL', `--[[ ${SENDS.name}: put letters into an inbox ]]\nreturn 1`];
    const call = readCall(
      line('1.000000', [...words, ...sending('host-b', message('host-a')).slice(2)]),
      SENDS,
    );
    expect(call?.messages).toEqual([{ from: 'host-a', to: 'host-b', atMs: 1_000 }]);
  });

  it('is a script without messages if it is another script', () => {
    expect(
      readCall(line('1.0', ['evalsha', 'd2', '1', inboxOf('host-b'), message('host-a')]), SENDS),
    ).toEqual({
      messages: [],
    });
  });

  it('is ignored if it is no script, runs inside one, or only answers', () => {
    expect(readCall(line('1.0', ['get', message('host-a')]), SENDS)).toBeUndefined();
    expect(readCall(line('1.0', sending('host-b', message('host-a')), 'lua'), SENDS)).toBeUndefined();
    expect(readCall('+OK\r', SENDS)).toBeUndefined();
  });

  it('is a message even if its body was cut', () => {
    const whole = line('1.0', sending('host-b', message('host-a', 'y'.repeat(99))));
    expect(readCall(whole.slice(0, -60), SENDS)?.messages).toMatchObject([{ from: 'host-a', to: 'host-b' }]);
  });
});

describe('a watch over servers', () => {
  it('counts scripts, reads split messages, reconnects, and keeps no long line', async () => {
    const { digest } = sendingScript();
    const received = (to: string, body: string): string =>
      `${line('2.0', ['evalsha', digest, ...sending(to, body).slice(2)])}\n`;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const watch = watchCalls([(server.address() as { port: number }).port]);
    onTestFinished(() => watch.stop());
    await eventually(() => sockets[0]);
    const text = received('host-b', message('host-a'));
    sockets[0]?.write(`+OK\r\n${text.slice(0, 40)}`);
    sockets[0]?.write(text.slice(40));
    sockets[0]?.write(received('host-c', message('host-a', 'z'.repeat(1_000_000))));
    await eventually(() => watch.seen().messages.length === 2);
    sockets[0]?.destroy();
    await eventually(() => sockets[1]);
    sockets[1]?.write(received('host-d', message('host-b')));
    await eventually(() => watch.seen().messages.length === 3);
    expect(watch.seen().messages.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'host-a host-b',
      'host-a host-c',
      'host-b host-d',
    ]);
    expect(watch.seen().scripts).toBe(3);
  });
});

describe('a history with reported messages', () => {
  const KILLED = 2_000;
  const HEALED = 4_000;
  /** i2.1 is killed, and another process takes its place. */
  const history = (): HistoryEvent[] => [
    { at: 10, kind: 'instance_up', instance: 'i1.1' },
    { at: 10, kind: 'instance_up', instance: 'i2.1' },
    { at: KILLED, kind: 'fault_began', fault: 1, what: 'instance_killed', target: 'i2.1' },
    { at: KILLED, kind: 'instance_down', instance: 'i2.1', isMeant: true },
    { at: HEALED, kind: 'instance_up', instance: 'i2.2' },
    { at: HEALED, kind: 'fault_ended', fault: 1 },
    { at: 20_000, kind: 'quiet' },
  ];
  const logOf = (instance: string, id: string) => ({
    instance,
    at: 1,
    level: 30,
    text: JSON.stringify({ msg: 'listening', instance_id: id }),
  });
  const logs = [logOf('i1.1', 'host-a'), logOf('i2.1', 'host-b'), logOf('i2.2', 'host-c')];
  const epochMs = 1_700_000_000_000;
  const judged = (to: string, at: number) => {
    const messages = [{ from: 'host-a', to, atMs: epochMs + at }];
    const merged = withMessages(history(), messages, { epochMs, names: instanceNames(logs) });
    expect(merged.map((each) => each.at)).toEqual(merged.map((each) => each.at).sort((a, b) => a - b));
    return checkHistory({ history: merged, logs, scripts: 7 });
  };
  const known = KILLED + ALLOWANCES.presenceMs;

  it('is broken by a message to an instance known to be dead', () => {
    const { violations } = judged('host-b', known + 1);
    expect(violations).toMatchObject([{ invariant: 'I9 nothing to the dead', about: ['i1.1', 'i2.1'] }]);
  });

  it('is kept by a message before the death was known, or to a living one', () => {
    for (const finding of [judged('host-b', known), judged('host-c', known + 1)]) {
      expect(finding.violations).toEqual([]);
      expect(finding.counts['messages between instances']).toBe(1);
      expect(finding.judged['I9 nothing to the dead']).toBe(1);
      expect(finding.judged['I8 one slot per script']).toBe(7);
    }
  });

  it('reports no scripts if no server was watched', () => {
    const recorder = createRecorder();
    const { judged } = checkHistory({ history: recorder.history, logs });
    expect(judged['I8 one slot per script']).toBe(0);
  });
});
