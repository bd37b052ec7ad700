/** Nodes that fail what they are given are left out for a while, and then tried with one job. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USE } from '../../src/domain/service-use.ts';
import {
  afterOutcome,
  afterPlacement,
  afterTime,
  type EjectionState,
  isShutOut,
  mayEject,
  TRUSTED,
} from '../../src/management/health/ejection.ts';
import { createFixture, SETTINGS } from './registry-fixture.ts';

const RULES = SETTINGS.ejection;
const NOW = 1_000_000;

const outcomes = (state: EjectionState, marks: string, at = NOW, canSpare = true) =>
  [...marks].reduce((now, mark) => afterOutcome(now, mark === 'x', canSpare, RULES, at), state);

describe('a node’s outcomes', () => {
  it('eject it at the minimum number of samples and share of failures', () => {
    expect(outcomes(TRUSTED, 'xxxx').phase).toBe('trusted');
    expect(outcomes(TRUSTED, 'xxxxx').phase).toBe('ejected');
    expect(outcomes(TRUSTED, '...xx').phase).toBe('trusted');
    expect(outcomes(TRUSTED, '...xxx').phase).toBe('ejected');
  });

  it('count only within the window', () => {
    const old = outcomes(TRUSTED, 'xxxx');
    expect(outcomes(old, 'x', NOW + RULES.windowMs / 2).phase).toBe('ejected');
    expect(outcomes(old, 'x', NOW + RULES.windowMs).phase).toBe('trusted');
  });

  it('change nothing while it is ejected', () => {
    const ejected = outcomes(TRUSTED, 'xxxxx');
    expect(outcomes(ejected, 'x...')).toBe(ejected);
  });

  it('never eject a node that only succeeds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60_000 })), (steps) => {
        let state = TRUSTED;
        let now = NOW;
        for (const step of steps) {
          now += step;
          state = afterTime(afterOutcome(state, false, true, RULES, now), now);
          expect(isShutOut(state)).toBe(false);
        }
      }),
    );
  });
});

describe('an ejected node', () => {
  const ejected = outcomes(TRUSTED, 'xxxxx');

  it('gets no jobs for the base time, then one probe', () => {
    expect(isShutOut(afterTime(ejected, NOW + RULES.baseMs - 1))).toBe(true);
    const probation = afterTime(ejected, NOW + RULES.baseMs);
    expect(isShutOut(probation)).toBe(false);
    expect(isShutOut(afterPlacement(probation, RULES, NOW))).toBe(true);
  });

  it('is trusted again when its probe succeeds', () => {
    const probing = afterPlacement(afterTime(ejected, ejected.until), RULES, ejected.until);
    expect(outcomes(probing, '.', ejected.until + 1).phase).toBe('trusted');
  });

  it('is ejected twice as long for each failed probe, up to the limit', () => {
    let state = ejected;
    let at = NOW;
    const lengths = [state.until - at];
    for (let round = 0; round < 7; round += 1) {
      at = state.until;
      state = outcomes(afterPlacement(afterTime(state, at), RULES, at), 'x', at);
      lengths.push(state.until - at);
    }
    expect(lengths).toEqual([10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('is ejected longer if it fails again soon', () => {
    const restored = outcomes(afterTime(ejected, ejected.until), '.', ejected.until);
    const soon = outcomes(restored, 'xxxxx', ejected.until + 1_000);
    expect(soon.until - (ejected.until + 1_000)).toBe(2 * RULES.baseMs);
    const late = ejected.until + RULES.maxMs + 1_000;
    expect(outcomes(restored, 'xxxxx', late).until - late).toBe(RULES.baseMs);
  });

  it('gets another probe if the outcome of one is missing', () => {
    const probing = afterPlacement(afterTime(ejected, ejected.until), RULES, ejected.until);
    expect(isShutOut(afterTime(probing, ejected.until + RULES.probeTimeoutMs - 1))).toBe(true);
    expect(isShutOut(afterTime(probing, ejected.until + RULES.probeTimeoutMs))).toBe(false);
  });
});

describe('the fleet', () => {
  it('ejects at most the allowed share', () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.integer({ min: 1, max: 50 }), (others, nodes) => {
        expect(mayEject(others, nodes, RULES)).toBe((others + 1) / nodes <= 0.5);
      }),
    );
  });

  async function fleetOf(size: number) {
    const fixture = createFixture();
    for (let index = 1; index <= size; index += 1) await fixture.readyNode({ nodeId: `node-${index}` });
    const fail = (nodeId: string) => {
      for (let round = 0; round < 5; round += 1) fixture.registry.recordOutcome(nodeId, 'failed', NO_USE);
    };
    const ejected = () =>
      fixture.registry.list({ limit: 100 }).nodes.filter(({ view }) => view.isEjected).length;
    return { ...fixture, fail, ejected };
  }

  it('publishes an ejection to selection once', async () => {
    const { fail, events, news, counts } = await fleetOf(4);
    news();
    fail('node-1');
    expect(events).toMatchObject([{ event: 'changed', view: { nodeId: 'node-1', isEjected: true } }]);
    expect(counts.get('scheduler_node_ejections_total')).toBe(1);
  });

  it('never ejects the only node', async () => {
    const { fail, ejected } = await fleetOf(1);
    fail('node-1');
    expect(ejected()).toBe(0);
  });

  it('ejects no further node when too many are ejected', async () => {
    const { fail, ejected } = await fleetOf(4);
    for (const nodeId of ['node-1', 'node-2', 'node-3', 'node-4']) fail(nodeId);
    expect(ejected()).toBe(2);
  });

  it('does not count offline nodes as working nodes', async () => {
    const { fail, ejected, registry, clock } = await fleetOf(4);
    for (const nodeId of ['node-1', 'node-2']) {
      registry.disconnected(nodeId, registry.get(nodeId)?.generation ?? 0);
    }
    await clock.advance(1_000);
    fail('node-3');
    fail('node-4');
    expect(ejected()).toBe(1);
  });

  it('ends ejections when the other nodes leave', async () => {
    const { fail, ejected, registry, clock } = await fleetOf(2);
    fail('node-1');
    expect(ejected()).toBe(1);
    registry.disconnected('node-2', registry.get('node-2')?.generation ?? 0);
    await clock.advance(2_000);
    expect(ejected()).toBe(0);
  });

  it('sends one job at a time to a node on probation', async () => {
    const { fail, registry, clock, view, beat } = await fleetOf(2);
    fail('node-1');
    await clock.advance(11_000);
    await beat({ nodeId: 'node-1' });
    expect(view('node-1')?.isEjected).toBe(false);
    registry.recordPlacement('node-1', NO_USE);
    expect(view('node-1')?.isEjected).toBe(true);
    registry.recordOutcome('node-1', 'failed', NO_USE);
    await clock.advance(19_000);
    expect(view('node-1')?.isEjected).toBe(true);
    await clock.advance(2_000);
    registry.recordPlacement('node-1', NO_USE);
    registry.recordOutcome('node-1', 'succeeded', NO_USE);
    expect(view('node-1')?.isEjected).toBe(false);
    registry.recordPlacement('node-1', NO_USE);
    expect(view('node-1')?.isEjected).toBe(false);
  });

  it('ignores outcomes of unknown nodes', () => {
    const { registry, events } = createFixture();
    registry.recordPlacement('node-9', NO_USE);
    registry.recordOutcome('node-9', 'failed', NO_USE);
    expect(events).toEqual([]);
  });
});
