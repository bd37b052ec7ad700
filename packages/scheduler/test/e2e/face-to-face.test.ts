/** Two people talk through the client SDK, on nodes of the node SDK, while nodes, connections and the scheduler fail. */
import type { GpuNode } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createBreakableWire } from './support/breakable-wire.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { sessionUrl } from './support/session-client.ts';
import { figure } from './support/session-metrics.ts';
import { startTalker, type Talker, understand } from './support/session-talk.ts';
import { type RunningApp, type Settings, startApp } from './support/start-app.ts';

/**
 * Default settings, except that jobs of a lost node are retried sooner, and sessions that return before the nodes
 * wait for them.
 */
const SETTINGS: Settings = {
  'scheduler.node_reconnect_grace_ms': 50,
  'scheduler.fleet_warmup_ms': 10_000,
};

/** Fixed numbers: each run is the same. */
function workTimes(): () => number {
  let count = 0;
  return () => 5 + ((count++ * 7) % 25);
}

const joinNode = (app: Pick<RunningApp, 'nodeUrl'>, nodeId: string): Promise<GpuNode> =>
  joinSdkNode({ url: app.nodeUrl, nodeId, onJob: understand(workTimes()) });

/** Each utterance has exactly one outcome, its own translation, in the order of speaking. */
function expectAllHeard({ said, heard, errors }: Talker): void {
  expect(heard.map(({ requestId, text, reason }) => [requestId, text ?? reason])).toEqual([...said]);
  expect(heard.every(({ text, translated }) => translated === `übersetzt ${text}`)).toBe(true);
  expect(errors).toEqual([]);
}

async function expectNothingLeft(app: RunningApp): Promise<void> {
  // It is unknown what dead nodes still do: their slots are freed when their leases expire.
  await eventually(async () =>
    (await app.nodes()).every(({ status, used_slots: used }) => status !== 'ready' || used === 0),
  );
  expect(await figure(app, 'scheduler_audio_store_bytes')).toBe(0);
  expect(await figure(app, 'scheduler_utterances_running')).toBe(0);
  expect([app.app.jobs.inFlight(), app.app.jobs.waiting()]).toEqual([0, 0]);
}

const sayMany = async (
  talkers: readonly Talker[],
  count: number,
  between: (number: number) => Promise<void> | void,
): Promise<void> => {
  for (let number = 1; number <= count; number += 1) {
    for (const [at, talker] of talkers.entries()) {
      talker.say((number + at) % 2 === 0 ? 'a' : 'b', number % 3 === 0 ? 'whole' : 'pieces');
    }
    await between(number);
  }
};

/** Waits until each talker received so many: they talk fast, but not everything at once. */
const until = (talkers: readonly Talker[], heard: number) =>
  eventually(() => talkers.every((talker) => talker.heard.length >= heard));

describe('conversation of two people', () => {
  it('all translations arrive in order despite killed nodes and cut connections', async () => {
    const app = await startApp(SETTINGS);
    const nodes = [await joinNode(app, 'node-a'), await joinNode(app, 'node-b')];
    await app.readyNodes(2);
    const wire = await createBreakableWire(sessionUrl(app));
    const talkers = [startTalker(1, { url: wire.url }), startTalker(2, { url: sessionUrl(app) })];
    const cuts = [7, 8, 15, 22, 29];
    await sayMany(talkers, 40, async (number) => {
      if (number === 12) nodes[0]?.kill();
      if (number === 26) nodes[0] = await joinNode(app, 'node-c');
      if (number === 33) nodes[1]?.kill();
      // In the middle of the last utterance.
      if (cuts.includes(number)) wire.cut();
      await until(talkers, number - 6);
    });
    await Promise.all(talkers.map(({ session }) => session.settled()));
    for (const talker of talkers) expectAllHeard(talker);
    const [cut, whole] = talkers as [Talker, Talker];
    expect(cut.opened.length).toBeGreaterThanOrEqual(cuts.length);
    expect(new Set(cut.opened.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(cut.opened.slice(1).every(({ resumed }) => resumed)).toBe(true);
    expect(whole.opened).toHaveLength(1);
    await expectNothingLeft(app);
    for (const { session } of talkers) expect((await session.close()).isAcknowledged).toBe(true);
    expect(app.app.sessions.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
  });

  it('all translations arrive after an absence beyond the resume time', async () => {
    const app = await startApp({ ...SETTINGS, 'scheduler.session_resume_ttl_ms': 100 });
    await joinNode(app, 'node-a');
    await app.readyNodes(1);
    const wire = await createBreakableWire(sessionUrl(app));
    const talker = startTalker(1, { url: wire.url });
    await sayMany([talker], 20, async (number) => {
      if (number === 10) {
        wire.cut({ isKept: true });
        await eventually(
          async () => (await figure(app, 'scheduler_sessions_ended_total{reason="expired"}')) === 1,
        );
      }
      if (number === 15) wire.mend();
      if (number < 10 || number > 15) await until([talker], number - 7);
    });
    await talker.session.settled();
    expectAllHeard(talker);
    expect(talker.opened.map(({ resumed }) => resumed)).toEqual([false, false]);
    await expectNothingLeft(app);
  });

  it('all translations arrive in a new session after a scheduler restart', async () => {
    const first = await startApp(SETTINGS);
    await joinNode(first, 'node-a');
    await joinNode(first, 'node-b');
    await first.readyNodes(2);
    const talkers = [1, 2].map((speaker) => startTalker(speaker, { url: sessionUrl(first) }));
    let app = first;
    await sayMany(talkers, 30, async (number) => {
      if (number === 15) {
        await first.app.stop();
        app = await startApp({ ...SETTINGS, 'server.port': Number(new URL(first.url).port) });
        // The nodes reconnect by themselves.
        await app.readyNodes(2);
      }
      await until(talkers, number - 6);
    });
    await Promise.all(talkers.map(({ session }) => session.settled()));
    for (const talker of talkers) {
      expectAllHeard(talker);
      expect(talker.opened.map(({ resumed }) => resumed)).toEqual([false, false]);
    }
    await expectNothingLeft(app);
  });

  it('a draining scheduler loses nothing; its successor gets the rest', async () => {
    const first = await startApp({ ...SETTINGS, 'server.drain_timeout_ms': 5_000 });
    await joinNode(first, 'node-a');
    await first.readyNodes(1);
    const talker = startTalker(1, { url: sessionUrl(first), chance: () => 0 });
    let draining = 0;
    talker.session.on('draining', () => {
      draining += 1;
    });
    let app = first;
    await sayMany([talker], 20, async (number) => {
      if (number === 10) {
        const stopped = first.app.stop();
        for (let more = 0; more < 3; more += 1) talker.say('a', 'pieces');
        await stopped;
        app = await startApp({ ...SETTINGS, 'server.port': Number(new URL(first.url).port) });
        await app.readyNodes(1);
      }
      await until([talker], number - 6);
    });
    await talker.session.settled();
    expectAllHeard(talker);
    expect(draining).toBe(1);
    await expectNothingLeft(app);
  });

  it('closing during an utterance still translates it', async () => {
    const app = await startApp(SETTINGS);
    await joinNode(app, 'node-a');
    await app.readyNodes(1);
    const talker = startTalker(1, { url: sessionUrl(app) });
    talker.say('a', 'pieces');
    talker.say('b', 'whole');
    const end = await talker.session.close();
    expect(end).toMatchObject({ isAcknowledged: true, unsettledBytes: 0 });
    expectAllHeard(talker);
    await expectNothingLeft(app);
  });
});
