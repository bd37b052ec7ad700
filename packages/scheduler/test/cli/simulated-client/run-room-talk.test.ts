/** The command `lingua talk --room`, against the whole scheduler with simulated nodes. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { runTalk } from '../../../src/cli/simulated-client/run-talk.ts';
import { HEALTHY } from '../../../src/cli/simulated-node/behaviour.ts';
import { createSimulatedFleet } from '../../../src/cli/simulated-node/simulated-fleet.ts';
import { startInstances } from '../../e2e/multi-instance/start-instances.ts';
import { type RunningApp, startApp } from '../../e2e/support/start-app.ts';
import { eventually } from '../../support/eventually.ts';
import { createTerminal } from '../terminal.ts';

const QUICK = ['--chunk-ms', '20', '--utterance-ms', '60', '--pause-ms', '20'];

async function joinFleet(app: RunningApp) {
  const fleet = createSimulatedFleet({
    url: app.nodeUrl,
    count: 2,
    slots: 16,
    languages: ['en', 'es', 'fr'],
    seed: 1,
    mix: [{ share: 1, behaviour: { ...HEALTHY, latency: { kind: 'constant', ms: 5 }, ttsMs: 0 } }],
  });
  onTestFinished(() => fleet.stop());
  await fleet.start();
  await app.readyNodes(2);
}

/** Until `isEnough` of what was printed. */
async function talkUntil(
  url: string,
  options: readonly string[],
  isEnough: (events: Event[]) => boolean | Promise<boolean>,
) {
  const io = createTerminal();
  const events = () => io.lines.map((line) => JSON.parse(line) as Event);
  const argv = ['--room', '--url', url, '--seconds', '0', '--json', ...QUICK, ...options];
  const status = runTalk(argv, io);
  await eventually(() => isEnough(events()));
  io.interrupt();
  expect(io.errors).toEqual([]);
  return { status: await status, events: events(), summary: events().at(-1) as Event };
}

type Event = { readonly event: string } & Readonly<Record<string, unknown>>;

const of = (events: readonly Event[], name: string) => events.filter(({ event }) => event === name);
const CLEAN = { lost: 0, doubled: 0, outOfOrder: 0 };

describe('lingua talk --room', () => {
  it('prints what each person hears, and a summary by language', async () => {
    const app = await startApp();
    await joinFleet(app);
    const io = createTerminal();
    const argv = [
      '--room',
      '--people',
      '3',
      '--languages',
      'en,es',
      '--url',
      app.url,
      '--seconds',
      '0',
      ...QUICK,
    ];
    const status = runTalk(argv, io);
    const isHeard = (line: RegExp) => io.lines.some((each) => line.test(each));
    await eventually(
      () =>
        isHeard(/^person 2 {2}es {2}← person 1 {2}en {2}#\d+ {2}“[^”]+” → “[^”]+” {2}\d+ ms$/) &&
        isHeard(/^person 3 {2}en {2}← person 1 {2}en {2}#\d+ {2}“[^”]+” {2}\d+ ms$/),
    );
    io.interrupt();
    expect(await status).toBe(0);
    expect(io.errors).toEqual([]);
    expect(io.lines[0]).toMatch(
      /^3 simulated people talk in room \S+ \(en, es\) → http:\S+ \(Ctrl-C ends\)$/,
    );
    expect(io.lines.slice(-3)).toEqual([
      expect.stringMatching(/^en {2}listeners 2 · captions promised (\d+) · received \1 · .* lost 0 · /),
      expect.stringMatching(/^es {2}listeners 1 · captions promised (\d+) · received \1 · .* lost 0 · /),
      expect.stringMatching(/^sessions 3 · utterances \d+ .* lost 0 · doubled 0$/),
    ]);
  });

  it('loses nothing over lost connections', async () => {
    const app = await startApp();
    await joinFleet(app);
    const options = ['--people', '3', '--languages', 'en,es,fr', '--cut-every', '0.3'];
    const { status, summary } = await talkUntil(
      app.url,
      options,
      (events) => of(events, 'resumed').length > 3,
    );
    expect(summary.captions).toMatchObject(
      ['en', 'es', 'fr'].map((language) => ({ language, listeners: 1, ...CLEAN })),
    );
    expect(status).toBe(0);
  });

  it('people on two instances hear one another', async () => {
    const { instances } = await startInstances(2);
    const [first, second] = instances as unknown as [RunningApp, RunningApp];
    await joinFleet(second);
    await eventually(async () => {
      const { body } = await first.get<{ languages: unknown[] }>('/v1/languages?src=en');
      return body.languages.length >= 2;
    });
    const { status, events, summary } = await talkUntil(
      `${first.url},${second.url}`,
      ['--people', '4', '--languages', 'en,es'],
      async (all) => {
        const sessions = await Promise.all(
          instances.map((each) => each.get<{ sessions: unknown[] }>('/api/v1/sessions')),
        );
        expect(sessions.map(({ body }) => body.sessions.length)).toEqual([2, 2]);
        return new Set(of(all, 'caption').map(({ person, speaker }) => `${person} ${speaker}`)).size === 12;
      },
    );
    expect(events[0]).toMatchObject({ event: 'room', simulated: true });
    expect(summary.captions).toMatchObject(
      ['en', 'es'].map((language) => ({ language, listeners: 2, ...CLEAN })),
    );
    expect(status).toBe(0);
  });

  it('names a language that no node serves, and those that are offered', async () => {
    const app = await startApp();
    await joinFleet(app);
    const io = createTerminal();
    expect(await runTalk(['--room', '--url', app.url, '--languages', 'en,es,xx'], io)).toBe(2);
    expect(io.errors).toEqual([
      'lingua talk: --languages: no node translates into xx now; offered: en, es, fr',
    ]);
  });

  it('names the person that the room refuses', async () => {
    const app = await startApp({ 'rooms.max_speakers': 2 });
    await joinFleet(app);
    const io = createTerminal();
    const argv = ['--room', '--url', app.url, '--people', '3', '--languages', 'en,es'];
    expect(await runTalk(argv, io)).toBe(1);
    expect(io.errors).toEqual([
      expect.stringMatching(/^lingua talk: person 3 cannot enter the room: ROOM_FULL: /),
    ]);
  });

  it('reports flags and values that do not go with a room, and returns 2', async () => {
    const problemsOf = async (...argv: string[]) => {
      const io = createTerminal();
      expect(await runTalk(argv, io)).toBe(2);
      return io.errors;
    };
    expect(await problemsOf('--room', '--people', '1', '--sessions', '3', '--languages', 'en,en')).toEqual([
      'lingua talk: --sessions counts pairs; with --room use --people',
      'lingua talk: --people must be a whole number from 2 to 1000',
      'lingua talk: --languages must be different languages, such as en,es,fr,de',
    ]);
    expect(await problemsOf('--room', '--people', '2', '--languages', 'en,es,fr')).toEqual([
      'lingua talk: --languages has 3 languages for 2 people; raise --people',
    ]);
    expect(await problemsOf('--people', '4')).toEqual([
      'lingua talk: --people is for a room; add --room, or use --sessions for pairs',
    ]);
    expect(await problemsOf('--room', '--url', 'http://a,b')).toEqual([
      'lingua talk: --url must start with http://, https://, ws:// or wss://',
    ]);
  });
});
