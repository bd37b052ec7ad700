/** The rules about store, instances and leftovers find exactly what breaks them. */
import { describe, expect, it } from 'vitest';
import type { FaultKind, HistoryEvent, UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { checkHistory } from '../../src/checker/check-history.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkInstances, type LogLine } from '../../src/checker/instances.ts';
import { checkLeftovers, type LeftKey } from '../../src/checker/leftovers.ts';
import { longestGapMs, printSummary, printViolations } from '../../src/checker/print.ts';
import { checkStoreDown } from '../../src/checker/store-down.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  assigned,
  delivered,
  fault,
  healed,
  imagine,
  oneJob,
  result,
  type Step,
  up,
} from './build-history.ts';

const outage = [
  [1_000, fault(1, 'store_down')],
  [9_000, healed(1)],
] as const;

describe('I7 in a history', () => {
  const answer = (
    kind: 'accepted' | 'refused' | 'unanswered',
    askedAt: number,
    at: number,
    code = 'SCHEDULER_DEPENDENCY_DOWN',
  ) => {
    const about = { client: 'c', request: 'r', askedAt };
    if (kind === 'accepted') return [at, { kind, ...about, job: 'j' }] as const;
    return kind === 'refused'
      ? ([at, { kind, ...about, code }] as const)
      : ([at, { kind, ...about, why: 'timeout' }] as const);
  };
  const check = (...steps: readonly Step[]) => {
    const history = imagine(...outage, ...steps).sort((one, other) => one.at - other.at);
    return checkStoreDown(gatherFacts(history), ALLOWANCES);
  };

  it('is broken by accepted work while the store is down', () => {
    expect(check(answer('accepted', 4_000, 5_000)).violations).toMatchObject([
      { invariant: 'I7 fail closed' },
    ]);
  });

  it('holds for refusals with the right code, and counts them', () => {
    const { violations, counts } = check(answer('refused', 4_000, 5_000));
    expect(violations).toEqual([]);
    expect(counts['refused because the store was down']).toBe(1);
  });

  it('is broken by another code, and by no answer', () => {
    expect(check(answer('refused', 4_000, 5_000, 'INTERNAL_ERROR')).violations).toHaveLength(1);
    expect(check(answer('unanswered', 4_000, 7_000)).violations).toHaveLength(1);
  });

  it('allows a frozen instance not to answer', () => {
    expect(
      check(answer('unanswered', 4_000, 7_000), [3_000, fault(2, 'instance_frozen')]).violations,
    ).toEqual([]);
  });

  it('allows no answer only for clients whose connections were cut', () => {
    const silent = answer('unanswered', 4_000, 7_000);
    expect(check(silent, [5_000, fault(2, 'client_cut', 'c')]).violations).toEqual([]);
    expect(check(silent, [5_000, fault(2, 'client_cut', 'd')]).violations).toHaveLength(1);
    expect(check(silent, [3_000, fault(2, 'client_cut', 'c')]).violations).toHaveLength(1);
  });

  it('judges only requests sent after the loss was known and answered before its end', () => {
    expect(check(answer('accepted', 1_500, 2_000)).violations).toEqual([]);
    expect(check(answer('accepted', 5_000, 9_500)).violations).toEqual([]);
    expect(check([5_000, accepted('r', 'j')]).violations).toEqual([]);
  });
});

describe('I7 after an outage', () => {
  const refusals = (from: number, count: number, code = 'SCHEDULER_DEPENDENCY_DOWN') =>
    Array.from({ length: count }, (_, index): Step => {
      const askedAt = from + index * 100;
      return [askedAt + 10, { kind: 'refused', client: 'c', request: `r${index}`, code, askedAt }];
    });
  const check = (isExact: boolean, ...steps: readonly Step[]) => {
    const history = imagine(...outage, ...steps);
    return checkStoreDown(gatherFacts(history), { ...ALLOWANCES, isExact });
  };
  const back = 9_000 + ALLOWANCES.recoverMs;

  it('is broken if service does not return', () => {
    expect(check(false, ...refusals(back + 1, 3)).violations).toMatchObject([
      { invariant: 'I7 fail closed', about: ['r0', 'r1', 'r2'] },
    ]);
  });

  it('holds while service returns, and after any acceptance or other refusal', () => {
    expect(check(false, ...refusals(back - 300, 3)).violations).toEqual([]);
    expect(check(false, ...refusals(back + 1, 2)).violations).toEqual([]);
    expect(check(false, ...refusals(back + 1, 3, 'RATE_LIMITED')).violations).toEqual([]);
  });

  it('counts refusals for a reachable store, which are violations in virtual time', () => {
    expect(check(false, ...refusals(back + 1, 1)).counts['refused although the store was up']).toBe(1);
    expect(check(true, ...refusals(back + 1, 1)).violations).toHaveLength(1);
    const known = 9_000 + ALLOWANCES.presenceMs;
    expect(check(true, ...refusals(known + 1, 1)).violations).toHaveLength(1);
    expect(check(true, ...refusals(known, 1)).violations).toEqual([]);
    expect(check(false, ...refusals(known + 1, 1)).counts['refused although the store was up']).toBe(0);
  });
});

describe('I8 and I9 in a history', () => {
  const judge = (history: readonly HistoryEvent[], logs: readonly LogLine[] = []) =>
    checkInstances(gatherFacts(history), { logs }, ALLOWANCES);
  const check = (...steps: readonly Step[]) => judge(imagine(...steps)).violations;
  const down = (isMeant: boolean) => ({ kind: 'instance_down', instance: 'i', isMeant }) as const;

  it('hold for messages under way when the instance died', () => {
    expect(check([1_000, down(true)], [1_200, assigned('n', 'j', 1, 'i')])).toEqual([]);
  });

  it('are broken by work from a dead instance', () => {
    expect(check([1_000, down(true)], [3_000, assigned('n', 'j', 1, 'i')])).toMatchObject([
      { about: ['j', 'n'] },
    ]);
    expect(check([1_000, down(true)], [3_000, assigned('n', 'j', 1, 'k')])).toEqual([]);
  });

  it('are broken by work from a frozen instance, not after it thawed', () => {
    const frozen = [
      [1_000, fault(1, 'instance_frozen', 'i')],
      [5_000, healed(1)],
    ] as const;
    const at = (ms: number) => imagine(...frozen, [ms, assigned('n', 'j', 1, 'i')]);
    expect(judge(at(3_000)).violations).toHaveLength(1);
    expect(judge(at(5_100)).violations).toEqual([]);
  });

  it('hold for old messages that a node or client reads when it wakes', () => {
    const wakes = (asleepFrom: number, what: FaultKind, who: string, hears: UntimedEvent) => {
      const asleep = [asleepFrom, fault(1, what, who)] as const;
      const ends = [3_000, down(true)] as const;
      const order = asleepFrom < 3_000 ? [asleep, ends] : [ends, asleep];
      return check(...order, [9_000, hears], [9_000, healed(1)]);
    };
    const stories: readonly [FaultKind, string, UntimedEvent][] = [
      ['node_frozen', 'n', assigned('n.1', 'j', 1, 'i')],
      ['client_partitioned', 'c', { ...delivered(1, 0), instance: 'i' } as UntimedEvent],
    ];
    for (const story of stories) {
      expect(wakes(2_000, ...story)).toEqual([]);
      expect(wakes(4_000, ...story)).toHaveLength(1);
    }
  });

  it('hold for a message to an instance whose renewal was delayed by the store', () => {
    const message = { kind: 'message_sent', from: 'k', to: 'i' } as const;
    const story = (ms: number) =>
      check([900, fault(1, 'shard_frozen', 's')], [1_000, down(true)], [2_000, healed(1)], [ms, message]);
    expect(story(2_000 + ALLOWANCES.presenceMs)).toEqual([]);
    expect(story(2_001 + ALLOWANCES.presenceMs)).toHaveLength(1);
  });

  it('hold for a message to a dead instance while its presence cannot be read', () => {
    const message = { kind: 'message_sent', from: 'k', to: 'i' } as const;
    const story = (ms: number) =>
      check([1_000, down(true)], [2_000, fault(1, 'shard_frozen', 's')], [9_000, healed(1)], [ms, message]);
    expect(story(10_800)).toEqual([]);
    expect(story(10_801)).toHaveLength(1);
  });

  it('are broken by a dead instance that answers, or is sent messages', () => {
    const answer = { kind: 'refused', client: 'c', request: 'r', code: 'X', instance: 'i' } as const;
    const message = { kind: 'message_sent', from: 'k', to: 'i' } as const;
    const known = 1_000 + ALLOWANCES.presenceMs;
    expect(check([1_000, down(true)], [1_400, answer])).toEqual([]);
    expect(check([1_000, down(true)], [1_600, answer])).toHaveLength(1);
    expect(check([1_000, down(true)], [known, message])).toEqual([]);
    expect(check([1_000, down(true)], [known + 1, message])).toMatchObject([{ about: ['k', 'i'] }]);
    const begins = [[1_000, fault(1, 'instance_killed', 'i')] as const, [1_000, down(true)] as const];
    expect(check(...begins, [known + 1, message])).toHaveLength(1);
    expect(check(...begins, [known, healed(1)], [known + 1, message])).toEqual([]);
    const born = { kind: 'instance_up', instance: 'i' } as const;
    expect(check([1_000, down(true)], [known, born], [known + 1, message])).toEqual([]);
  });

  it('are broken by work from an instance whose presence has expired', () => {
    const alone = [1_000, fault(1, 'instance_cut_off', 'i')] as const;
    const until = 1_000 + ALLOWANCES.presenceMs + ALLOWANCES.flightMs;
    expect(check(alone, [until, assigned('n', 'j', 1, 'i')])).toEqual([]);
    expect(check(alone, [until + 1, assigned('n', 'j', 1, 'i')])).toHaveLength(1);
    expect(check(alone, [until + 1, assigned('n', 'j', 1, 'k')])).toEqual([]);
    expect(check(alone, [until, healed(1)], [until + 1, assigned('n', 'j', 1, 'i')])).toEqual([]);
    const words = [accepted('r', 'j'), delivered(1, 0)].map(
      (each) => ({ ...each, instance: 'i' }) as UntimedEvent,
    );
    for (const received of words) {
      expect(check(alone, [until, received])).toEqual([]);
      expect(check(alone, [until + 1, received])).toHaveLength(1);
    }
    const refused = { kind: 'refused', client: 'c', request: 'r', code: 'X', instance: 'i' } as const;
    expect(check(alone, [until + 1, refused])).toEqual([]);
  });

  it('are broken by an instance that ends by itself', () => {
    expect(check(down(false))).toHaveLength(1);
    expect(check(down(true))).toEqual([]);
  });

  it('are broken by a script that leaves its hash slot; other errors are counted', () => {
    const line = (text: string) => ({ instance: 'i', at: 1, level: 50, text });
    const { violations, counts } = judge([], [line('CROSSSLOT Keys in request'), line('other')]);
    expect(violations).toMatchObject([{ invariant: 'I8 one slot per script' }]);
    expect(counts['errors in logs']).toBe(2);
  });
});

describe('I2 in what is left', () => {
  const check = (...keys: readonly (Partial<LeftKey> & { name: string })[]) =>
    checkLeftovers({
      at: 1,
      keys: keys.map((key) => ({ ttlMs: -1, size: 1, ...key })),
      livingInstances: ['alive'],
    });

  it('holds for nodes, living instances, and what expires', () => {
    const { violations, counts } = check(
      { name: 'v1:nodes:{node:n}:meta' },
      { name: 'v1:nodes:{node:n}:reserved', liveLeases: 0 },
      { name: 'v1:jobs:{job:x}:fsm', ttlMs: 60_000 },
      { name: 'streams:{instance:alive}:inbox', size: 7, lingering: 0 },
      { name: 'schedulers:all' },
      { name: 'v1:schedulers:{instance:gone}:jobs_settled', ttlMs: 1_000 },
      { name: 'v1:schedulers:dlq_orphaned' },
      { name: 'schema' },
    );
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ 'leaked leases': 0, 'keys: nodes': 1, 'keys: jobs': 1 });
  });

  it.each([
    ['a live lease', { name: 'v1:nodes:{node:n}:reserved', liveLeases: 1 }],
    ['a job that stays for ever', { name: 'v1:jobs:{job:x}:fsm' }],
    ['a job that stays too long', { name: 'v1:jobs:{job:x}:fsm', ttlMs: 3_600_000 }],
    ['mailbox entries that were not fetched', { name: 'v1:nodes:{node:n}:mailbox', size: 2, ttlMs: 1_000 }],
    ['an entry in an inbox that stays', { name: 'streams:{instance:alive}:inbox', size: 7, lingering: 1 }],
    ['a dead letter', { name: 'streams:{instance:alive}:dlq', size: 1 }],
    ['a dead letter of the dead', { name: 'streams:{instance:gone}:dlq', size: 1, ttlMs: 1_000 }],
    ['the inbox of a dead instance', { name: 'streams:{instance:gone}:inbox', size: 0 }],
    ['the index of a dead instance', { name: 'v1:schedulers:{instance:gone}:jobs', size: 0 }],
    ['a key of no kind', { name: 'v1:whatever' }],
    ['a key that no code writes any more', { name: 'v1:nodes:{node:n}:owner', ttlMs: 9_000 }],
  ])('is broken by %s', (_name, key) => {
    expect(check(key).violations).toMatchObject([{ invariant: 'I2 no leak', about: [key.name] }]);
  });
});

describe('all rules together', () => {
  it('find nothing in a correct run', () => {
    const history = imagine(up('n'), ...oneJob('r', 'j'), ...oneJob('q', 'k'));
    expect(checkHistory({ history }).violations).toEqual([]);
  });

  it('report violations in the order of time, with the story of the first', () => {
    const history = imagine(up('n'), ...oneJob('r', 'j'), result('r', 'n', 'j'), [
      90_000,
      assigned('n', 'j', 7),
    ]);
    const { violations } = checkHistory({ history });
    expect(violations.map(({ at }) => at)).toEqual([...violations.map(({ at }) => at)].sort((a, b) => a - b));
    const text = printViolations(history, violations);
    expect(text).toContain('c got 2 outcomes of r');
    expect(text).toMatch(/asked +client=c request=r/);
    expect(text).toMatch(/started +node=n job=j attempt=1/);
  });

  it('report how long there was no result after a fault', () => {
    const history = imagine(
      ...oneJob('r', 'j'),
      [5_000, fault(1, 'instance_killed', 'i')],
      [6_000, result('q', 'n', 'k')],
      [9_000, result('p', 'n', 'l')],
      [9_500, { kind: 'quiet' }],
    );
    expect(longestGapMs(history, 5_000, 9_500)).toBe(3_000);
    expect(printSummary(history, checkHistory({ history }))).toMatch(
      /instance_killed +i +5.00 s +for good +3.00 s/,
    );
  });
});
