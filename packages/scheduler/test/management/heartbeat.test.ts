/** What a heartbeat changes, and what it leaves alone. */

import { describe, expect, it } from 'vitest';
import { isCalm } from '../../src/management/health/vitals.ts';
import type { Registration } from '../../src/management/node-registry.ts';
import { aBeat, COLD_REPORT, createFixture, READY_REPORT, SDK_TRAITS } from './registry-fixture.ts';

const FIGURES = { cpuPercent: 10, gpuPercent: 20, memoryPercent: 30, runningJobs: 0 };

describe('a heartbeat that changes only the load', () => {
  it('publishes the load and nothing else', async () => {
    const { readyNode, beat, events, news } = createFixture();
    await readyNode();
    news();
    await beat({ resources: { ...FIGURES, cpuPercent: 55, runningJobs: 3 } });
    expect(events).toEqual([{ event: 'loaded', nodeId: 'node-1', load: { used: 3, max: 4 } }]);
  });

  it('calls the ledger once and declares nothing', async () => {
    const { readyNode, beat, calls } = createFixture();
    await readyNode();
    calls.length = 0;
    await beat();
    expect(calls).toEqual(['reconcile']);
  });

  it('is as cheap when it repeats the whole report', async () => {
    const { readyNode, beat, news, calls, view } = createFixture();
    await readyNode();
    const before = view('node-1')?.profile;
    news();
    calls.length = 0;
    await beat({ report: structuredClone(READY_REPORT), slots: 4 });
    expect(news()).toEqual(['loaded']);
    expect(calls).toEqual(['reconcile']);
    expect(view('node-1')?.profile).toBe(before);
  });

  it('updates the time of the last heartbeat without a publication', async () => {
    const { readyNode, beat, news, view, clock } = createFixture();
    await readyNode();
    await clock.advance(9_000);
    news();
    await beat();
    expect(view('node-1')?.lastBeatAt).toBe(clock.now());
    expect(news()).toEqual(['loaded']);
  });
});

describe('a heartbeat', () => {
  it('before a registration is answered and changes nothing', async () => {
    const { beat, events, counts } = createFixture();
    expect(await beat()).toEqual({ kind: 'unknown_node' });
    expect(events).toEqual([]);
    expect(counts.get('scheduler_heartbeats_total')).toBe(1);
  });

  it('merges its parts with the parts of earlier reports', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    await beat({ report: { languages: { semantic: ['ja'], tts: ['ja'] } } });
    expect(view('node-1')?.profile).toMatchObject({
      semantic: ['ja'],
      readyTypes: ['asr', 'nmt', 'semantic', 'tts'],
      installedServices: ['faster-whisper-vad'],
    });
  });

  it('publishes new abilities to selection once', async () => {
    const { readyNode, beat, news } = createFixture();
    await readyNode();
    news();
    const report = { languages: { semantic: ['ja'] } };
    await beat({ report });
    await beat({ report: structuredClone(report) });
    expect(news()).toEqual(['changed', 'loaded', 'loaded']);
  });

  it('keeps the last valid report when a later one is too large', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    const asr = Array.from({ length: 2_001 }, (_, index) => `l${index}`);
    expect(await beat({ report: { languages: { asr } } })).toEqual({ kind: 'beat', health: 'ready' });
    expect(view('node-1')?.profile.asr).toEqual(['en', 'zh']);
  });

  it('declares changed slots to the ledger', async () => {
    const { readyNode, beat, events, news, calls } = createFixture();
    await readyNode({ traits: SDK_TRAITS });
    news();
    calls.length = 0;
    await beat({ slots: 2 });
    expect(calls).toEqual(['declare', 'reconcile']);
    expect(events).toContainEqual({ event: 'loaded', nodeId: 'node-1', load: { used: 0, max: 2 } });
  });

  it('that makes the node ready updates the ledger before selection', async () => {
    const { join, beat, registry, events, calls } = createFixture();
    await join();
    events.length = 0;
    calls.length = 0;
    await beat();
    expect(calls[0]).toBe('declare');
    expect(events.slice(0, 2)).toMatchObject([
      { event: 'changed', view: { health: 'ready' } },
      { event: 'statusChanged', health: 'ready', reason: 'healthy' },
    ]);
    expect(registry.get('node-1')?.lastReason).toBe('healthy');
  });

  it.each(['degraded', 'draining', 'offline'] as const)(
    'that reports "%s" stops new jobs before it is answered',
    async (health) => {
      const { readyNode, beat, ledger, of } = createFixture();
      await readyNode();
      expect((await ledger.reserve('node-1', 'job-1:1', 5_000)).kind).toBe('reserved');
      await beat({ health });
      // The ledger is shared by all instances, so none of them gets a slot any more.
      expect((await ledger.reserve('node-1', 'job-2:1', 5_000)).kind).toBe('not_ready');
      expect(of('changed').at(-1)?.view.health).not.toBe('ready');
      expect(of('statusChanged').at(-1)?.reason).toBe(`reported_${health}`);
    },
  );

  it('counts a node that runs more jobs than it has slots', async () => {
    const { readyNode, beat, counts } = createFixture();
    await readyNode();
    await beat({ resources: { ...FIGURES, runningJobs: 4 } });
    expect(counts.get('scheduler_oversell_detected_total')).toBeUndefined();
    await beat({ resources: { ...FIGURES, runningJobs: 5 } });
    expect(counts.get('scheduler_oversell_detected_total')).toBe(1);
  });

  it('restores a node that the ledger has lost', async () => {
    const { readyNode, beat, ledger } = createFixture();
    await readyNode();
    await ledger.forget('node-1');
    await beat();
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved', max: 4 });
  });
});

describe('resources', () => {
  const busy = [
    ['cpu', { cpuPercent: 85.1 }],
    ['gpu', { gpuPercent: 85.1 }],
    ['memory', { memoryPercent: 99 }],
  ] as const;
  for (const [name, figures] of busy) {
    it(`above the ${name} threshold exclude the node until they fall`, async () => {
      const { readyNode, beat, of } = createFixture();
      await readyNode();
      await beat({ resources: { ...FIGURES, ...figures } });
      expect(of('changed').at(-1)?.view).toMatchObject({ isCalm: false, health: 'ready' });
      await beat({ resources: FIGURES });
      expect(of('changed').at(-1)?.view.isCalm).toBe(true);
    });
  }

  it('exactly at a threshold exclude no node, also at 100', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    await beat({ resources: { ...FIGURES, cpuPercent: 85, gpuPercent: 85, memoryPercent: 85 } });
    expect(view('node-1')).toMatchObject({ isCalm: true, health: 'ready' });
    const full = { cpuPercent: 100, gpuPercent: 100, memoryPercent: 100 };
    expect(isCalm({ runningJobs: 0, ...full }, full)).toBe(true);
  });

  it('that are unknown count as healthy', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    await beat({ resources: { runningJobs: 0, gpuPercent: -1, gpuMemoryPercent: -1 } });
    expect(view('node-1')).toMatchObject({ isCalm: true, health: 'ready' });
  });

  it('of a full GPU memory are ignored, because models are kept there', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    await beat({ resources: { ...FIGURES, gpuMemoryPercent: 97 } });
    expect(view('node-1')?.isCalm).toBe(true);
  });

  it('that are impossible make the heartbeat unhealthy', async () => {
    const { readyNode, beat, of, health } = createFixture();
    await readyNode();
    for (const gpuPercent of [101, Number.NaN, 5_000]) await beat({ resources: { ...FIGURES, gpuPercent } });
    expect(health('node-1')).toBe('degraded');
    expect(of('statusChanged').at(-1)?.reason).toBe('gpu_figures_invalid');
  });

  it('with a queue make the node the last choice', async () => {
    const { readyNode, beat, of } = createFixture();
    await readyNode();
    await beat({ resources: { ...FIGURES, gpuQueueLength: 1 } });
    expect(of('changed').at(-1)?.view.isQueueing).toBe(true);
    await beat({ resources: { ...FIGURES, gpuQueueLength: 0 } });
    expect(of('changed').at(-1)?.view.isQueueing).toBe(false);
  });
});

describe('a node whose services stop', () => {
  it('is degraded and gets no jobs until they run', async () => {
    const { readyNode, beat, of, ledger, health } = createFixture();
    await readyNode();
    for (let round = 0; round < 3; round += 1) await beat({ report: COLD_REPORT });
    expect(of('statusChanged').at(-1)).toMatchObject({ health: 'degraded', reason: 'no_service_ready' });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    await beat(aBeat({ report: READY_REPORT }));
    expect(health('node-1')).toBe('ready');
  });
});

describe('a report without the job of an abandoned attempt', () => {
  const NOTHING = { resources: FIGURES, runningJobIds: [] };

  async function fenced(channel: 'socket' | 'mailbox') {
    const fixture = createFixture();
    const { generation } = await fixture.readyNode({ channel });
    await fixture.ledger.reserve('node-1', 'job-1:1', 60_000);
    await fixture.clock.advance(1);
    await fixture.ledger.abandon('node-1', 'job-1:1');
    const used = async () => (await fixture.ledger.loads(['node-1'])).get('node-1')?.used;
    return { ...fixture, generation, used };
  }

  it('releases its slot if it came over the socket of the job', async () => {
    const { beat, generation, used } = await fenced('socket');
    await beat({ ...NOTHING, generation });
    expect(await used()).toBe(0);
  });

  it('keeps the slot if it came over HTTP shortly after (I1)', async () => {
    const { beat, join, clock, used } = await fenced('mailbox');
    await beat(NOTHING);
    await join({ channel: 'mailbox', runningJobIds: [] });
    expect(await used()).toBe(1);
    await clock.advance(2_000);
    await beat(NOTHING);
    expect(await used()).toBe(0);
  });
});

describe('a report without an acknowledged job whose lease was not released', () => {
  const NOTHING = { resources: FIGURES, runningJobIds: [] };
  const [reservationMs, runningMs] = [5_000, 65_000];

  async function taken(traits: Registration['traits'], channel: 'socket' | 'mailbox' = 'socket') {
    const fixture = createFixture();
    const { generation } = await fixture.readyNode({ traits, channel });
    await fixture.ledger.reserve('node-1', 'job-1:1', reservationMs);
    await fixture.ledger.commit('node-1', 'job-1:1', runningMs);
    const usedAfter = async (ms: number) => {
      await fixture.clock.advance(ms);
      await fixture.beat(channel === 'socket' ? { ...NOTHING, generation } : NOTHING);
      return (await fixture.ledger.loads(['node-1'])).get('node-1')?.used;
    };
    return { ...fixture, usedAfter };
  }

  it('releases its slot once the report is certainly newer (I2)', async () => {
    const { usedAfter } = await taken(SDK_TRAITS);
    expect(await usedAfter(4_999)).toBe(1);
    expect(await usedAfter(1)).toBe(0);
  });

  it('releases nothing if it came over HTTP, because its age is unknown (I1)', async () => {
    const { usedAfter } = await taken(SDK_TRAITS, 'mailbox');
    expect(await usedAfter(20_000)).toBe(1);
  });

  it('releases nothing on a legacy node, because the job may be unread (I1)', async () => {
    const { usedAfter } = await taken({ ...SDK_TRAITS, supports: ['cancel_ack'] });
    expect(await usedAfter(20_000)).toBe(1);
  });

  it('releases no slot that is only reserved (I1)', async () => {
    const { ledger, usedAfter } = await taken(SDK_TRAITS);
    expect(await usedAfter(6_000)).toBe(0);
    await ledger.reserve('node-1', 'job-2:1', reservationMs);
    expect(await usedAfter(1)).toBe(1);
  });
});

describe('a heartbeat that announces the end of the node', () => {
  it('lets it drain until then, whatever its health, and keeps the time while it repeats it', async () => {
    const { readyNode, beat, view, clock, news } = createFixture();
    await readyNode();
    const at = clock.now() + 30_000;
    await beat({ health: 'ready', leavingInMs: 30_000 });
    expect(view('node-1')).toMatchObject({ health: 'draining', leavingAt: at });
    news();
    await clock.advance(5_000);
    await beat({ leavingInMs: 25_300 });
    expect(view('node-1')?.leavingAt).toBe(at);
    expect(news()).toEqual(['loaded']);
    await beat({ leavingInMs: 1_000 });
    expect(view('node-1')?.leavingAt).toBe(clock.now() + 1_000);
  });

  it('is taken back by a heartbeat without one', async () => {
    const { readyNode, beat, view } = createFixture();
    await readyNode();
    await beat({ leavingInMs: 30_000 });
    await beat({ health: 'ready' });
    expect(view('node-1')?.leavingAt).toBeUndefined();
    expect(view('node-1')?.health).not.toBe('draining');
  });
});
