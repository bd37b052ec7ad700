/** The command `lingua talk`, against the whole scheduler with simulated nodes. */
import { expect, it, onTestFinished } from 'vitest';
import { runTalk } from '../../../src/cli/simulated-client/run-talk.ts';
import { HEALTHY } from '../../../src/cli/simulated-node/behaviour.ts';
import { createSimulatedFleet } from '../../../src/cli/simulated-node/simulated-fleet.ts';
import { startApp } from '../../e2e/support/start-app.ts';
import { eventually } from '../../support/eventually.ts';
import { createTerminal } from '../terminal.ts';

const QUICK = ['--chunk-ms', '20', '--utterance-ms', '60', '--pause-ms', '20'];

async function startFleet() {
  const app = await startApp();
  const fleet = createSimulatedFleet({
    url: app.nodeUrl,
    count: 2,
    slots: 8,
    languages: ['zh', 'en'],
    seed: 1,
    mix: [{ share: 1, behaviour: { ...HEALTHY, latency: { kind: 'constant', ms: 5 }, ttsMs: 10 } }],
  });
  onTestFinished(() => fleet.stop());
  await fleet.start();
  await app.readyNodes(2);
  return app;
}

it('runs pairs, prints each outcome, and returns 0 without losses', async () => {
  const app = await startFleet();
  const io = createTerminal();
  expect(await runTalk(['--url', app.url, '--seconds', '0.5', ...QUICK], io)).toBe(0);
  expect(io.errors).toEqual([]);
  expect(io.lines[0]).toBe(`2 pairs talk (zh, en) → ${app.url} for 0.5 s`);
  expect(io.lines).toContainEqual(
    expect.stringMatching(/^pair 1 {2}zh {2}#0 {2}“[^”]+” → “[^”]+” {2}\d+ ms$/),
  );
  expect(io.lines).toContainEqual(expect.stringMatching(/^pair 2 {2}en {2}#1 /));
  expect(io.lines.at(-1)).toMatch(
    /^sessions 2 · utterances \d+ · results \d+ · missing 0 .* lost 0 · doubled 0$/,
  );
});

it('resumes its sessions after lost connections, without losses', async () => {
  const app = await startFleet();
  const io = createTerminal();
  const talk = runTalk(['--url', app.url, '--seconds', '0', '--cut-every', '0.2', '--json', ...QUICK], io);
  const received = () => io.lines.map((line) => JSON.parse(line));
  await eventually(() => expect(received().filter(({ event }) => event === 'resumed')).not.toHaveLength(0));
  const before = received().length;
  await eventually(() =>
    expect(
      received()
        .slice(before)
        .filter(({ event }) => event === 'outcome'),
    ).not.toHaveLength(0),
  );
  io.interrupt();
  expect(await talk).toBe(0);
  const summary = received().at(-1);
  expect(summary).toMatchObject({
    event: 'summary',
    sessions: 2,
    reopened: 0,
    lost: 0,
    doubled: 0,
    outOfOrder: 0,
  });
  expect(summary.results).toBe(summary.utterances);
});

it('prints one line for all pairs when there are many', async () => {
  const app = await startFleet();
  const io = createTerminal();
  expect(await runTalk(['--url', app.url, '--sessions', '21', '--seconds', '0.2', ...QUICK], io)).toBe(0);
  expect(io.lines).toHaveLength(2);
});

it('reports a rejected connection and returns 1', async () => {
  const app = await startApp(
    {},
    '[[server.tokens]]\ntoken = "a-token-of-somebody-else-1"\nrole = "client"\ntenant_id = "other"',
  );
  const io = createTerminal();
  const talk = runTalk(['--url', app.url, '--sessions', '1', '--seconds', '0'], io);
  await eventually(() => expect(io.lines.length).toBeGreaterThan(1));
  io.interrupt();
  expect(await talk).toBe(1);
  expect(io.errors).toEqual([
    `lingua talk: no session could be opened at ${app.url}; is a scheduler running there, and does it require a --token?`,
  ]);
});

it('reports once that no scheduler answers, without a summary', async () => {
  const { app, url } = await startApp();
  await app.stop();
  const io = createTerminal();
  const talk = runTalk(
    ['--url', url, '--sessions', '1', '--seconds', '0.5', '--token', 'one-of-a-client'],
    io,
  );
  expect(await talk).toBe(1);
  expect(io.lines.slice(1)).toEqual(['pair 1  cannot connect (1006); they try again']);
  expect(io.errors).toEqual([
    `lingua talk: no session could be opened at ${url}; is a scheduler running there, and does it know this --token?`,
  ]);
});

it('reports every wrong option at once and returns 2', async () => {
  const io = createTerminal();
  const argv = [
    '--url',
    'ftp://x',
    '--sessions',
    '0',
    '--seconds',
    'long',
    '--languages',
    'zh',
    '--chunk-ms',
    '1',
  ];
  expect(await runTalk(argv, io)).toBe(2);
  expect(io.errors).toEqual([
    'lingua talk: --url must start with http://, https://, ws:// or wss://',
    'lingua talk: --seconds must be a number from 0 to 10000000',
    'lingua talk: --chunk-ms must be a whole number from 10 to 2000',
    'lingua talk: --sessions must be a whole number from 1 to 10000',
    'lingua talk: --languages must be two languages, such as zh,en',
  ]);
  expect(await runTalk(['--speed', '3'], createTerminal())).toBe(2);
});

it('prints its help', async () => {
  const io = createTerminal();
  expect(await runTalk(['--help'], io)).toBe(0);
  expect(io.lines[0]).toContain('Usage: lingua talk');
});
