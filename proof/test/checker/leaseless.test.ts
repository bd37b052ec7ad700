/** I1 looks through excuses: what runs without a lease, and what does not although it seems so. */
import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../../packages/simulation/dist/history.js';
import { checkCapacity } from '../../src/checker/capacity.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { accepted, asked, fault, healed, imagine, type Step, started, up } from './imagined.ts';

const check = (...steps: readonly Step[]) => checkCapacity(gatherFacts(imagine(...steps)), ALLOWANCES);

describe('a job that runs without a lease', () => {
  const acknowledging: Step = { kind: 'node_up', node: 'n', slots: 1, style: 'sdk', acknowledges: true };
  const acknowledged = (job: string) => ({ kind: 'acknowledged', node: 'n', job, attempt: 1 }) as const;
  const { reservationMs, leaseMs } = ALLOWANCES;

  it('has lost its slot if the node did not say in time that it took it; that is counted', () => {
    const { violations, counts } = check(
      acknowledging,
      [1_000, started('n', 'a')],
      [1_000 + reservationMs, started('n', 'b')],
    );
    expect(violations).toEqual([]);
    expect(counts['oversold beside jobs that nobody acknowledged in time']).toBe(1);
  });

  it('has not lost it before, nor if it was acknowledged, nor if its node never does', () => {
    const again = [1_000 + reservationMs, started('n', 'b')] as const;
    expect(
      check(acknowledging, [1_000, started('n', 'a')], [4_000, started('n', 'b')]).violations,
    ).toHaveLength(1);
    expect(
      check(acknowledging, [1_000, started('n', 'a')], [3_000, acknowledged('a')], again).violations,
    ).toHaveLength(1);
    expect(check(up('n', 1), [1_000, started('n', 'a')], again).violations).toHaveLength(1);
  });

  it.each([
    ['node_cut', 'n'],
    ['node_parted', 'n'],
    ['network_bad', '*'],
  ] as const)('may have been given up if its acknowledgement was lost by %s', (what, target) => {
    const story = (at: number, who: string) =>
      check(
        acknowledging,
        [1_000, started('n', 'a')],
        [1_050, acknowledged('a')],
        [at, fault(1, what, who)],
        [at + 1, healed(1)],
        [9_000, started('n', 'b')],
      ).violations;
    expect(story(1_500, target)).toEqual([]);
    expect(story(1_600, target)).toHaveLength(1);
    expect(story(1_500, 'm')).toHaveLength(1);
  });

  it('may have been sent at any time since its node was parted from everybody', () => {
    const story = (startedAt: number) =>
      check(
        acknowledging,
        [1_000, fault(1, 'node_parted', 'n')],
        [6_000, healed(1)],
        [startedAt, started('n', 'a')],
        [startedAt + 1, acknowledged('a')],
        [startedAt + 2, started('n', 'b')],
      ).violations;
    expect(story(6_000)).toEqual([]);
    expect(story(6_600)).toHaveLength(1);
  });

  it('has its slot for long if its node never acknowledges: it was had when the job was sent', () => {
    const story = (cutAt: number, isExact: boolean) => {
      const history = imagine(
        up('n', 1),
        [1_000, started('n', 'a')],
        [cutAt, fault(1, 'node_cut', 'n')],
        [cutAt, healed(1)],
        [9_000, started('n', 'b')],
      );
      return checkCapacity(gatherFacts(history), { ...ALLOWANCES, isExact }).violations;
    };
    expect(story(1_100, true)).toHaveLength(1);
    // Of real nodes nobody knows that.
    expect(story(1_100, false)).toEqual([]);
    expect(story(1_600, false)).toHaveLength(1);
  });

  it('may have had it for a while before it was sent, but only where something held it up, and not since before it was asked for', () => {
    const story = (isHeldUp: boolean, askedAt: number, at: number) =>
      check(
        acknowledging,
        ...(isHeldUp
          ? ([
              [1_000, fault(1, 'shard_frozen')],
              [2_000, healed(1)],
            ] as const)
          : []),
        [askedAt, asked('r')],
        [5_500, started('n', 'a')],
        [5_600, accepted('r', 'a')],
        [at, started('n', 'b')],
      ).violations;
    const endsAt = 4_000 + reservationMs - ALLOWANCES.flightMs;
    expect(story(true, 4_000, endsAt)).toEqual([]);
    expect(story(true, 4_000, endsAt - 1)).toHaveLength(1);
    expect(story(true, 4_001, endsAt)).toHaveLength(1);
    expect(story(false, 4_000, endsAt)).toHaveLength(1);
  });

  it('has a slot again soon after it was acknowledged, whenever that one was had, or is told to be cancelled', () => {
    const story = (at: number, ...rest: readonly Step[]) =>
      check(
        acknowledging,
        [1_000, fault(1, 'shard_frozen')],
        [2_000, healed(1)],
        [2_500, asked('r')],
        [4_000, started('n', 'a')],
        [4_100, accepted('r', 'a')],
        [8_000, acknowledged('a')],
        ...rest,
        [at, started('n', 'b')],
      ).violations;
    const soon = 8_000 + ALLOWANCES.flightMs;
    expect(story(soon - 1)).toEqual([]);
    expect(story(soon)).toHaveLength(1);
    expect(story(soon, [8_010, { kind: 'cancel_told', node: 'n', job: 'a' }])).toEqual([]);
  });

  describe('because its acknowledgement was not noted before its reservation ended', () => {
    const AGAIN_MS = 1_100;
    const story = (what: FaultKind, who: string, healedAt: number, at: number) =>
      check(
        acknowledging,
        [1_000, { kind: 'assigned', node: 'n', job: 'a', attempt: 1, instance: 'i' }],
        [1_000, started('n', 'a')],
        [4_100, fault(1, what, who)],
        [4_200, acknowledged('a')],
        [healedAt, healed(1)],
        [at, started('n', 'b')],
      ).violations;
    const ended = 1_000 + reservationMs - ALLOWANCES.flightMs;
    const tooLate = ended - AGAIN_MS + 1;
    const soon = tooLate + AGAIN_MS + ALLOWANCES.flightMs;

    it.each([
      ['shard_frozen', 's'],
      ['instance_frozen', 'i'],
      ['instance_cut_off', 'i'],
    ] as const)('may have lost its slot (%s), until a moment after', (what, who) => {
      expect(story(what, who, tooLate, soon - 1)).toEqual([]);
      expect(story(what, who, tooLate, soon)).toHaveLength(1);
      expect(story(what, who, tooLate - 1, soon - 1)).toHaveLength(1);
    });

    it.each([
      ['shard_lossy', 's'],
      ['store_cut', 's'],
      ['store_slow', 's'],
      ['slots_moved', 's'],
      ['instance_frozen', 'another'],
    ] as const)('is no excuse where others, or most commands, are answered (%s %s)', (what, who) => {
      expect(story(what, who, tooLate, soon - 1)).toHaveLength(1);
    });
  });

  it('has not lost its slot because its driver was gone, unless it was acknowledged too late for whoever has its socket', () => {
    const story = (acknowledgedAt: number, driver: string, at: number) =>
      check(
        acknowledging,
        [950, fault(2, 'shard_lossy')],
        [960, { kind: 'letter_sent', from: driver, to: 'i', node: 'n', job: 'a' }],
        [1_000, { kind: 'assigned', node: 'n', job: 'a', attempt: 1, instance: 'i' }],
        [1_000, started('n', 'a')],
        [1_100, fault(1, 'instance_killed', 'd')],
        [acknowledgedAt, acknowledged('a')],
        [3_000, healed(1)],
        [at, started('n', 'b')],
      ).violations;
    // As old as a reservation may be when its job is sent.
    const ended = 1_000 + ALLOWANCES.messageMs - ALLOWANCES.flightMs;
    expect(story(ended + 1, 'd', 7_000)).toEqual([]);
    expect(story(ended, 'd', 7_000)).toHaveLength(1);
    expect(story(ended + 1, 'another', 7_000)).toHaveLength(1);
    const decided = 1_100 + 2 * ALLOWANCES.presenceMs + 1_100 + ALLOWANCES.flightMs;
    expect(story(ended + 1, 'd', decided - 1)).toEqual([]);
    expect(story(ended + 1, 'd', decided)).toHaveLength(1);
  });

  it('may have been given up if the instance that had brought it ended before it was acknowledged', () => {
    const story = (ended: string) =>
      check(
        acknowledging,
        [1_000, { kind: 'assigned', node: 'n', job: 'a', attempt: 1, instance: 'i' }],
        [1_000, { kind: 'assigned', node: 'n', job: 'z', attempt: 1, instance: 'other' }],
        [1_000, started('n', 'a')],
        [4_000, { kind: 'instance_down', instance: ended, isMeant: true }],
        [4_200, acknowledged('a')],
        [1_000 + reservationMs, started('n', 'b')],
      ).violations;
    expect(story('i')).toEqual([]);
    expect(story('other')).toHaveLength(1);
  });

  it('may have lost its slot if it was acknowledged after its successor had begun', () => {
    const story = (successorAt: number) =>
      check(
        acknowledging,
        up('m'),
        [1_000, started('n', 'a')],
        [successorAt, started('m', 'a', 2)],
        [4_500, acknowledged('a')],
        [1_000 + reservationMs, started('n', 'b')],
      ).violations;
    expect(story(4_400)).toEqual([]);
    expect(story(4_600)).toHaveLength(1);
  });

  it('has a later slot than the attempt before it', () => {
    const story = (startedAt: number) =>
      check(
        acknowledging,
        up('m'),
        [1_000, fault(1, 'shard_frozen')],
        [2_000, healed(1)],
        [startedAt, started('m', 'a')],
        [5_500, started('n', 'a', 2)],
        [4_000 + reservationMs - ALLOWANCES.flightMs, started('n', 'b')],
      ).violations;
    expect(story(4_000)).toEqual([]);
    expect(story(4_100)).toHaveLength(1);
  });

  it('may have had its slot for a while when its node was parted, where something had held it up', () => {
    const story = (isHeldUp: boolean) =>
      check(
        acknowledging,
        ...(isHeldUp
          ? ([
              [1_000, fault(1, 'shard_frozen')],
              [2_000, healed(1)],
            ] as const)
          : []),
        [4_000, asked('r')],
        [5_000, fault(2, 'node_parted', 'n')],
        [9_000, started('n', 'a')],
        [9_001, acknowledged('a')],
        [9_100, started('n', 'b')],
        [9_200, healed(2)],
        [9_300, accepted('r', 'a')],
      ).violations;
    expect(story(true)).toEqual([]);
    expect(story(false)).toHaveLength(1);
  });

  describe('because its node slept over it', () => {
    const slept = (sleptMs: number, ...rest: readonly Step[]) =>
      check(
        acknowledging,
        [1_000, fault(1, 'node_frozen', 'n')],
        [1_000 + sleptMs, healed(1)],
        [1_000 + sleptMs, started('n', 'a')],
        ...rest,
      ).violations;

    it('may have been given up, if that was long enough', () => {
      expect(slept(4_000, [5_100, started('n', 'b')])).toHaveLength(1);
      expect(slept(5_000, [6_100, started('n', 'b')])).toEqual([]);
    });

    it('is in hand again when it was acknowledged and nobody had it cancelled', () => {
      const ack = [6_010, acknowledged('a')] as const;
      const soon = 6_010 + reservationMs;
      expect(slept(5_000, ack, [soon - 1, started('n', 'b')])).toEqual([]);
      expect(slept(5_000, ack, [soon, started('n', 'b')])).toHaveLength(1);
      expect(
        slept(5_000, ack, [6_020, { kind: 'cancel_told', node: 'n', job: 'a' }], [soon, started('n', 'b')]),
      ).toEqual([]);
    });
  });

  it('has lost it for sure when its time is over, and not before', () => {
    const story = (at: number) => check(up('n', 1), [0, started('n', 'a')], [at, started('n', 'b')]);
    expect(story(leaseMs - 1).violations).toHaveLength(1);
    expect(story(leaseMs).violations).toEqual([]);
    expect(story(leaseMs).counts['oversold beside jobs whose lease had ended']).toBe(1);
  });
});
