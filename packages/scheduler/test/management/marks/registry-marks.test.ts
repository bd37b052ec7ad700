/** MODEL_NOT_AVAILABLE in the registry: selection sees the mark of a node at once, and its end. */
import { describe, expect, it } from 'vitest';
import { useOf } from '../../../src/domain/service-use.ts';
import { someNeed } from '../../runtime/fleet/fleet-fixture.ts';
import { createFixture, READY_REPORT, SETTINGS } from '../registry-fixture.ts';

const { ttlMs, debounceMs, probeTimeoutMs } = SETTINGS.marks;
const NMT = useOf(someNeed({ usesAsr: false, usesTts: false }));
const ASR = useOf(someNeed({ usesNmt: false, usesTts: false }));

const REPORT = {
  ...READY_REPORT,
  services: [
    { serviceId: 'faster-whisper-vad', type: 'asr', status: 'running' },
    { serviceId: 'm2m', type: 'nmt', status: 'running' },
  ],
};
const withoutM2m = { ...REPORT, services: REPORT.services.slice(0, 1) };

async function startNode(...given: Parameters<typeof createFixture>) {
  const fixture = createFixture(...given);
  await fixture.readyNode({ report: REPORT });
  const { registry, view } = fixture;
  return {
    ...fixture,
    mark: (serviceId = 'm2m') => registry.markMissing('node-1', serviceId),
    place: (use = NMT) => registry.recordPlacement('node-1', use),
    end: (outcome: 'succeeded' | 'failed' | 'unproven', use = NMT) =>
      registry.recordOutcome('node-1', outcome, use),
    hidden: () => [view('node-1')?.markedServices, view('node-1')?.markedTypes],
    /** A heartbeat that says again which services are ready. */
    claim: (report: Partial<typeof REPORT> = REPORT) => fixture.beat({ report }),
    /** The service stops and is ready again. */
    async renew() {
      await fixture.beat({
        report: { services: REPORT.services.map((each) => ({ ...each, status: 'stopped' })) },
      });
      await fixture.beat({ report: REPORT });
    },
    /** Beats on the way, without a word on services, so that the node stays alive. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 10_000) {
        await fixture.clock.advance(Math.min(left, 10_000));
        await fixture.beat();
      }
    },
  };
}

const NOTHING = [[], []];
const HIDDEN = [['m2m'], ['nmt']];

describe('MODEL_NOT_AVAILABLE: a node that lacks a service', () => {
  it('is published as marked once, with service and type', async () => {
    const { mark, hidden, news, of } = await startNode();
    news();
    expect([mark(), mark()]).toEqual(['marked', 'known']);
    expect(hidden()).toEqual(HIDDEN);
    expect(of('changed')).toMatchObject([
      {
        view: {
          markedServices: ['m2m'],
          markedTypes: ['nmt'],
          marksEndAt: [expect.any(Number), expect.any(Number)],
        },
      },
    ]);
  });

  it('is unknown here if another instance holds it', () => {
    expect(createFixture().registry.markMissing('nobody', 'm2m')).toBe('unknown_node');
  });

  it('is on probation when its mark ends: the next job is a probe', async () => {
    const { mark, place, end, hidden, pass, counts } = await startNode();
    mark();
    await pass(ttlMs - 2_000);
    expect(hidden()).toEqual(HIDDEN);
    await pass(3_000);
    expect(hidden()).toEqual(NOTHING);
    place(ASR);
    expect(hidden()).toEqual(NOTHING);
    place();
    expect(hidden()).toEqual(HIDDEN);
    end('succeeded', ASR);
    expect(hidden()).toEqual(HIDDEN);
    end('succeeded');
    expect(hidden()).toEqual(NOTHING);
    expect(counts.get('scheduler_model_na_probes_total succeeded')).toBe(1);
    place();
    expect(hidden()).toEqual(NOTHING);
  });

  it('gets one job per mark if every job fails', async () => {
    const { mark, place, pass, hidden, view } = await startNode();
    mark('lid-v3');
    expect(hidden()).toEqual([['lid-v3'], []]);
    await pass(debounceMs);
    mark('lid-v3');
    expect(view('node-1')?.markedTypes).toEqual(expect.arrayContaining(['asr', 'nmt']));
    await pass(ttlMs + 1_000);
    expect(hidden()).toEqual(NOTHING);
    place(ASR);
    expect(view('node-1')?.markedTypes).toContain('asr');
    mark('lid-v3');
    await pass(ttlMs / 2);
    expect(view('node-1')?.markedTypes).toContain('asr');
  });

  it('is on probation again after a probe that proved nothing', async () => {
    const { mark, place, end, hidden, renew, counts } = await startNode();
    mark();
    await renew();
    place();
    end('unproven', ASR);
    expect(hidden()).toEqual(HIDDEN);
    end('unproven');
    expect(hidden()).toEqual(NOTHING);
    expect(counts.get('scheduler_model_na_probes_total unanswered')).toBe(1);
    place();
    expect(hidden()).toEqual(HIDDEN);
    end('failed');
    end('unproven');
    expect(hidden()).toEqual(HIDDEN);
  });

  it('ends other probes that the reporting job may have been', async () => {
    const { mark, place, end, hidden, renew, clock, view } = await startNode({
      ejection: { ...SETTINGS.ejection, minSamples: 1, maxEjectedPercent: 100 },
    });
    for (const id of ['m2m', 'faster-whisper-vad']) mark(id);
    await renew();
    end('failed', ASR);
    await clock.advance(SETTINGS.ejection.baseMs + 2_000);
    place({ types: ['semantic', 'asr', 'nmt'], services: [] });
    expect([view('node-1')?.isEjected, hidden()[1]]).toEqual([true, ['asr', 'nmt']]);
    mark('faster-whisper-vad');
    expect([view('node-1')?.isEjected, hidden()[1]]).toEqual([false, ['asr']]);
  });

  it('keeps its mark for the TTL although heartbeats say "ready" as before', async () => {
    const { mark, place, hidden, claim, clock } = await startNode();
    mark();
    for (let passedMs = 10_000; passedMs < SETTINGS.marks.ttlMs; passedMs += 10_000) {
      await clock.advance(10_000);
      await claim();
      await claim({ ...REPORT, languages: { asr: ['en'] } });
      expect(hidden()).toEqual(HIDDEN);
    }
    await clock.advance(10_000);
    await claim();
    expect(hidden()).toEqual(NOTHING);
    place();
    expect(hidden()).toEqual(HIDDEN);
  });

  it('is on probation early only when the report of that service changes to ready', async () => {
    const { mark, hidden, beat, claim } = await startNode();
    const other = { serviceId: 'piper', type: 'tts', status: 'running' };
    mark();
    await beat();
    await claim({ services: [...REPORT.services, other] });
    await claim(withoutM2m);
    expect(hidden()).toEqual(HIDDEN);
    await claim();
    expect(hidden()).toEqual(NOTHING);
  });

  it('is on probation when a service becomes ready that was not when it was marked', async () => {
    const { mark, hidden, claim } = await startNode();
    await claim(withoutM2m);
    mark();
    await claim(withoutM2m);
    expect(hidden()).toEqual(HIDDEN);
    await claim();
    expect(hidden()).toEqual(NOTHING);
  });

  it('keeps its mark after a failed probe while it reports as before', async () => {
    const { mark, place, end, hidden, claim, renew, counts } = await startNode();
    mark();
    await renew();
    place();
    end('failed');
    expect(hidden()).toEqual(HIDDEN);
    await claim();
    expect(hidden()).toEqual(HIDDEN);
    await claim(withoutM2m);
    await claim();
    expect(hidden()).toEqual(NOTHING);
    place();
    expect(mark()).toBe('marked');
    await claim();
    expect(hidden()).toEqual(HIDDEN);
    expect(counts.get('scheduler_model_na_probes_total failed')).toBe(2);
  });

  it('is probed again when the outcome of a probe is missing', async () => {
    const { mark, place, hidden, renew, pass, counts } = await startNode();
    mark();
    await renew();
    place();
    await pass(probeTimeoutMs - 2_000);
    expect(hidden()).toEqual(HIDDEN);
    await pass(3_000);
    expect(hidden()).toEqual(NOTHING);
    expect(counts.get('scheduler_model_na_probes_total unanswered')).toBe(1);
  });

  it('loses its mark after a success of an earlier job', async () => {
    const { mark, end, hidden } = await startNode();
    mark();
    end('succeeded', ASR);
    expect(hidden()).toEqual(HIDDEN);
    end('succeeded');
    expect(hidden()).toEqual(NOTHING);
  });

  it('still serves the type by another service until it reports again', async () => {
    const { mark, hidden, clock, claim, of } = await startNode();
    await claim({ services: [...REPORT.services, { serviceId: 'nllb', type: 'nmt', status: 'running' }] });
    mark();
    expect(hidden()).toEqual([['m2m'], []]);
    await clock.advance(debounceMs);
    mark();
    expect(hidden()).toEqual(HIDDEN);
    expect(of('changed').at(-1)?.view.markedTypes).toEqual(['nmt']);
  });

  it('hides the type when the other service of it stops', async () => {
    const { mark, hidden, claim } = await startNode();
    const [asr] = REPORT.services as [(typeof REPORT.services)[0]];
    await claim({ services: [asr, { serviceId: 'nllb', type: 'nmt', status: 'running' }] });
    mark('m2m');
    await claim({ services: [asr, { serviceId: 'nllb', type: 'nmt', status: 'running' }] });
    expect(hidden()).toEqual([['m2m'], []]);
    await claim({ services: [asr] });
    expect(hidden()).toEqual(HIDDEN);
  });

  it('keeps its mark over a reconnect unless its report changes to ready', async () => {
    const { mark, place, hidden, join, registry } = await startNode();
    mark();
    for (const [report, expected] of [
      [REPORT, HIDDEN],
      [withoutM2m, HIDDEN],
      [REPORT, NOTHING],
    ] as const) {
      registry.disconnected('node-1', registry.get('node-1')?.generation ?? 0);
      await join({ report });
      expect(hidden()).toEqual(expected);
    }
    place();
    expect(hidden()).toEqual(HIDDEN);
  });

  it('keeps its marks when it moves from another instance', async () => {
    const { hidden, claim, renew } = await startNode({}, () => ['m2m']);
    await claim();
    expect(hidden()).toEqual(HIDDEN);
    await renew();
    expect(hidden()).toEqual(NOTHING);
  });
});

describe('MODEL_NOT_AVAILABLE: marks are bounded', () => {
  it('per node, where the oldest is dropped, and in total', async () => {
    const { mark, hidden, counts, gauges, registry, join } = await startNode({
      marks: { ...SETTINGS.marks, maxPerNode: 2, maxKnown: 3 },
    });
    expect(['a', 'b', 'c'].map(mark)).toEqual(['marked', 'marked', 'marked']);
    expect(hidden()[0]).toEqual(['b', 'c']);
    expect(counts.get('scheduler_model_na_dropped_total oldest_mark')).toBe(1);
    await join({ nodeId: 'node-2' });
    expect(['a', 'b', 'a'].map((id) => registry.markMissing('node-2', id))).toEqual([
      'marked',
      'marks_full',
      'known',
    ]);
    registry.measure();
    expect(gauges.get('scheduler_model_na_marks')).toBe(3);
  });

  it('and are removed with their node', async () => {
    const { mark, gauges, registry } = await startNode();
    mark();
    registry.overtaken('node-1', Number.MAX_SAFE_INTEGER);
    registry.measure();
    expect(gauges.get('scheduler_model_na_marks')).toBe(0);
  });
});

describe('MODEL_NOT_AVAILABLE: a node without marks', () => {
  it('publishes nothing new for heartbeats and jobs', async () => {
    const { place, end, claim, news } = await startNode();
    news();
    place();
    end('succeeded');
    await claim();
    expect(news()).toEqual(['loaded']);
  });
});
