/** Capability pools: every lookup is counted, with the main reason when no node was found. */
import { describe, expect, it } from 'vitest';
import type { Need } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { PoolPlan } from '../../../src/domain/pool.ts';
import type { NodeProfile } from '../../../src/domain/profile.ts';
import { missReason } from '../../../src/runtime/pools/miss-reason.ts';
import { createPoolWatch } from '../../../src/runtime/pools/pool-watch.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import { select } from '../../../src/runtime/select/select.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { anyProfile, nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';
import { dividedFleet, having, planOf, pool } from './pool-fixture.ts';

const CORE = { asr: 'whisper' };

const reasonIn = (views: readonly NodeView[], part: Partial<PoolPlan> = {}, need: Partial<Need> = {}) => {
  const fleet = dividedFleet(planOf([pool(1)], part), ...views);
  return missReason(compileNeed(fleet, someNeed(need)), 1);
};

const typed = (installedTypes: readonly string[], readyTypes: readonly string[]): NodeProfile => ({
  ...anyProfile,
  installedTypes: [...installedTypes, 'semantic'],
  readyTypes: [...readyTypes, 'semantic'],
});

describe('why a pool has no node', () => {
  it('it has no nodes', () => {
    expect(reasonIn([])).toBe('no_nodes');
  });

  it.each([
    [['nmt', 'tts'], ['nmt', 'tts'], 'missing_core_asr_installed'],
    [['asr', 'nmt', 'tts'], ['nmt', 'tts'], 'missing_core_asr_not_ready'],
    [['asr', 'tts'], ['asr', 'tts'], 'missing_core_nmt_installed'],
    [['asr', 'nmt', 'tts'], ['asr', 'tts'], 'missing_core_nmt_not_ready'],
    [['asr', 'nmt'], ['asr', 'nmt'], 'missing_core_tts_installed'],
    [['asr', 'nmt', 'tts'], ['asr', 'nmt'], 'missing_core_tts_not_ready'],
  ])('with %j installed and %j ready is %s', (installed, ready, reason) => {
    expect(reasonIn([nodeView('a', { profile: typed(installed, ready) })])).toBe(reason);
  });

  it('uses the service id of a stage if one is configured', () => {
    const other = nodeView('a', { profile: having('other') });
    expect(reasonIn([other], { core: CORE })).toBe('missing_core_asr_installed');
    const installed = { ...having('whisper'), readyServices: [] };
    expect(reasonIn([nodeView('a', { profile: installed })], { core: CORE })).toBe(
      'missing_core_asr_not_ready',
    );
  });

  it('ignores a stage that the job does not use', () => {
    const view = nodeView('a', { profile: typed(['nmt', 'tts'], ['nmt', 'tts']), health: 'degraded' });
    expect(reasonIn([view], {}, { usesAsr: false })).toBe('status_not_ready');
  });

  it('is otherwise the reason that excludes most nodes', () => {
    const views = [
      nodeView('a', { slots: 0 }),
      nodeView('b', { slots: 0 }),
      nodeView('c', { health: 'offline' }),
    ];
    expect(reasonIn(views)).toBe('capacity_exceeded');
    expect(reasonIn([nodeView('free')])).toBe('excluded');
  });
});

describe('the pool watch', () => {
  const plan = planOf([pool(1, ['x']), pool(2, ['y'])], { tenantPools: new Map([['tenant', 1]]) });

  const watched = (...views: NodeView[]) => watchedBy(plan, ...views);

  function watchedBy(by: PoolPlan, ...views: NodeView[]) {
    const counts = new Map<string, number>();
    const meter = {
      count: (name: string, labels: object = {}) => {
        const key = `${name.replace('scheduler_', '')} ${Object.values(labels).join()}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      },
      gauge() {},
      observe() {},
    };
    const clock = createManualClock();
    const pools = createPoolWatch({ meter, clock });
    const fleet = dividedFleet(by, ...views);
    const compiled = compileNeed(fleet, someNeed());
    const start = () =>
      select(fleet, compiled, {
        chance: seededChance(1),
        sampleK: 20,
        policy: 'weighted_random',
        excluded: new Set(),
        pools,
      });
    const taken = () => {
      const all = Object.fromEntries(counts);
      counts.clear();
      return all;
    };
    return { start, taken, clock, fleet };
  }

  it('counts a hit in the preferred pool', () => {
    const { start, taken } = watched(nodeView('a', { profile: having('x') }));
    expect(start().next()).toBe('a');
    expect(taken()).toEqual({
      'phase3_pool_attempt_total 1,success,ok': 1,
      'phase3_pool_selected_total 1,hit,false': 1,
      'pool_query_total found': 1,
    });
  });

  it('counts a fallback with the reason of the preferred pool', () => {
    const busy = nodeView('a', { profile: having('x'), slots: 0 });
    const { start, taken } = watched(busy, nodeView('b', { profile: having('y') }));
    const selection = start();
    expect([selection.next(), selection.next()]).toEqual(['b', undefined]);
    expect(taken()).toEqual({
      'phase3_pool_attempt_total 1,fail,capacity_exceeded': 1,
      'phase3_pool_attempt_total 2,success,ok': 1,
      'phase3_pool_selected_total 2,hit,true': 1,
      'pool_query_total found': 1,
    });
  });

  it('counts every hit as a fallback if no pool is eligible', () => {
    const toneOnly = planOf([pool(1, ['tone'])]);
    const { start, taken } = watchedBy(toneOnly, nodeView('a'));
    expect(start().next()).toBe('a');
    expect(taken()).toMatchObject({ 'phase3_pool_selected_total 1,hit,true': 1 });
  });

  it('counts a miss once per selection', () => {
    const { start, taken } = watched(nodeView('a', { profile: having('x'), health: 'offline' }));
    const selection = start();
    expect([selection.next(), selection.next()]).toEqual([undefined, undefined]);
    expect(taken()).toEqual({
      'phase3_pool_attempt_total 1,fail,offline': 1,
      'phase3_pool_attempt_total 2,fail,no_nodes': 1,
      'phase3_pool_selected_total 1,miss,true': 1,
      'pool_query_total empty': 1,
    });
  });

  it('recomputes the reason only after an interval', async () => {
    const { start, taken, clock, fleet } = watched(nodeView('a', { profile: having('x'), slots: 0 }));
    start().next();
    fleet.upsert(nodeView('a', { profile: having('x'), health: 'offline' }));
    start().next();
    expect(taken()['phase3_pool_attempt_total 1,fail,capacity_exceeded']).toBe(2);
    await clock.advance(300);
    start().next();
    expect(taken()['phase3_pool_attempt_total 1,fail,offline']).toBe(1);
  });

  it('spends one millisecond per interval on reasons, then reuses them', () => {
    let at = 0;
    const clock = { now: () => Math.floor(at), precise: () => (at += 0.3), after: () => () => {} };
    const reasons: string[] = [];
    const count = (_name: string, labels: { reason?: string } = {}) =>
      void (labels.reason !== undefined && reasons.push(labels.reason));
    const watch = createPoolWatch({ meter: { count, gauge() {}, observe() {} }, clock });
    const many = Array.from({ length: 40 }, (_, n) => pool(n, [`s${n}`]));
    const busy = many.map((_, n) => nodeView(`n${n}`, { profile: having(`s${n}`), slots: 0 }));
    const fleet = dividedFleet(planOf(many), ...busy);
    const compiled = compileNeed(fleet, someNeed());
    const miss = () => {
      reasons.length = 0;
      for (const { poolId } of many) watch.missed(compiled, poolId);
      return reasons.filter((reason) => reason === 'capacity_exceeded').length;
    };
    expect([miss(), miss()]).toEqual([4, 4]);
    expect(reasons.slice(4)).toEqual(Array.from({ length: 36 }, () => 'unexamined'));
    at += 250;
    expect(miss()).toBe(4);
    at += 100;
    expect(miss()).toBe(4);
  });
});
