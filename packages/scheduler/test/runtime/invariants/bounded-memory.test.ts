/** Caches and attempts of the hot path have limits; at them entries are dropped or the job fails. */
import { describe, expect, it } from 'vitest';
import { judgeRetry } from '../../../src/runtime/attempts/retry-or-fail.ts';
import { createSessionHistory } from '../../../src/runtime/dispatch/session-history.ts';
import { createPlainQueries } from '../../../src/runtime/fleet/plain-queries.ts';
import type { StandingQuery } from '../../../src/runtime/fleet/standing-queries.ts';
import { createPoolMap, type PoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { createPreferPool } from '../../../src/runtime/pools/prefer-pool.ts';
import { nodeView, someNeed } from '../fleet/fleet-fixture.ts';
import { dividedFleet, planOf, pool } from '../pools/pool-fixture.ts';

const MAX_ATTEMPTS = 32;
const MOST_QUERIES = 2_048;
const MAX_KINDS = 4_096;
const MAX_PAIRS = 1_024;
const MAX_NODES_PER_SESSION = 16;

describe('limits of the hot path', () => {
  it('I11 bounded: a job fails after 32 attempts, counted or not', () => {
    const judge = (attempts: number) =>
      judgeRetry({ attempts, retries: 0, nodesLost: 0 }, false, 2, () => true);
    expect([judge(MAX_ATTEMPTS - 1), judge(MAX_ATTEMPTS)]).toEqual(['retry', 'exhausted']);
  });

  it('I11 bounded: cached queries by language are dropped at the limit', () => {
    const queries = createPlainQueries();
    const direction = (number: number) => ({ source: `s${number}`, target: 'zh' });
    const query = {} as StandingQuery;
    for (let number = 0; number < MOST_QUERIES; number += 1) queries.add(7, direction(number), query);
    expect(queries.find(7, direction(0))).toBe(query);
    queries.add(7, direction(MOST_QUERIES), query);
    expect(queries.find(7, direction(0))).toBeUndefined();
    expect(queries.find(7, direction(MOST_QUERIES))).toBe(query);
  });

  it('I11 bounded: cached pools per kind of job are dropped at the limit', () => {
    const poolMap = createPoolMap(planOf([pool(1), pool(2)], { matchScope: 'all_required' }));
    const eligible = (number: number) => poolMap.eligible(someNeed({ services: [`s${number}`] }));
    const first = eligible(0);
    for (let number = 1; number < MAX_KINDS; number += 1) eligible(number);
    expect(eligible(0)).toBe(first);
    eligible(MAX_KINDS);
    expect(eligible(0)).not.toBe(first);
    expect(eligible(0)).toEqual(first);
  });

  it('I11 bounded: cached preferred pools are dropped at the limit', () => {
    const fleet = dividedFleet(planOf([pool(1), pool(2)]), nodeView('node-1'));
    let routes = 0;
    const poolMap = fleet.pools as PoolMap;
    const counted: PoolMap = {
      ...poolMap,
      route(need) {
        routes += 1;
        return poolMap.route(need);
      },
    };
    const prefer = createPreferPool({ ...fleet, pools: counted, table: fleet.table, stats: fleet.stats });
    const lookUp = (number: number) => {
      const direction = { source: `s${number}`, target: 'zh' };
      return prefer(
        { tenantId: 'acme', sessionId: 's' },
        { ...direction, directions: [direction], isSourceAuto: false, isPairUnknown: false },
      );
    };
    for (let number = 0; number < MAX_PAIRS - 1; number += 1) lookUp(number);
    expect(routes).toBe(MAX_PAIRS - 1);
    const first = lookUp(0);
    expect(routes).toBe(MAX_PAIRS - 1);
    lookUp(MAX_PAIRS);
    expect(lookUp(0)).toBe(first);
    expect(routes).toBe(MAX_PAIRS + 1);
  });

  it('I11 bounded: sessions and their nodes are dropped, oldest first', () => {
    const history = createSessionHistory({ maxSessions: 3, keepMs: 1_000 });
    for (const session of ['a', 'b', 'c']) history.note(session, 'node-0', 9, 0);
    history.note('a', 'node-0', 9, 0);
    history.note('d', 'node-0', 9, 0);
    const known = ['a', 'b', 'c', 'd'].map((session) => history.lastNode(session, 0, 1));
    expect(known).toEqual(['node-0', undefined, 'node-0', 'node-0']);
    for (let node = 1; node < MAX_NODES_PER_SESSION; node += 1) history.note('d', `node-${node}`, 9, 0);
    expect(history.sawLater('d', 0)).toHaveLength(MAX_NODES_PER_SESSION);
    history.note('d', 'node-0', 9, 0);
    history.note('d', 'node-more', 9, 0);
    const later = history.sawLater('d', 0);
    expect(later).toHaveLength(MAX_NODES_PER_SESSION);
    expect([later.includes('node-0'), later.includes('node-1')]).toEqual([true, false]);
  });

  it('I11 bounded: sessions are dropped when no utterance was sent for long', () => {
    const history = createSessionHistory({ maxSessions: 100, keepMs: 1_000 });
    history.note('a', 'node-0', 9, 0);
    history.note('b', 'node-0', 9, 500);
    history.note('c', 'node-0', 9, 1_200);
    const known = ['a', 'b', 'c'].map((session) => history.sawLater(session, 0));
    expect(known).toEqual([[], ['node-0'], ['node-0']]);
  });
});
