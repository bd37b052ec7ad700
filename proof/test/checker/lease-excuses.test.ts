/** I1 excuses one job too many only beside jobs whose leases may have ended. */
import { describe, expect, it } from 'vitest';
import { checkCapacity } from '../../src/checker/capacity.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { accepted, asked, fault, healed, imagine, type Step, started, up } from './build-history.ts';

const check = (...steps: readonly Step[]) => checkCapacity(gatherFacts(imagine(...steps)), ALLOWANCES);

describe('a job that runs without a lease', () => {
  const acknowledging: Step = { kind: 'node_up', node: 'n', slots: 1, style: 'sdk', acknowledges: true };
  const acknowledged = (job: string) => ({ kind: 'acknowledged', node: 'n', job, attempt: 1 }) as const;
  const { reservationMs, messageMs, abandonedMs, flightMs, leaseMs } = ALLOWANCES;
  /** Since its slot was reserved: the driver waits for the acknowledgement, then shortens the lease. */
  const unacknowledgedMs = messageMs + abandonedMs;

  it('is excused and counted when its node never acknowledged it', () => {
    const { violations, counts } = check(
      acknowledging,
      [1_000, started('n', 'a')],
      [1_000 + unacknowledgedMs, started('n', 'b')],
    );
    expect(violations).toEqual([]);
    expect(counts['oversold beside unacknowledged jobs']).toBe(1);
  });

  it('is not excused before ack timeout and shortened lease are over', () => {
    const story = (at: number) =>
      check(acknowledging, [1_000, started('n', 'a')], [at, started('n', 'b')]).violations;
    const endsAt = 1_000 + unacknowledgedMs - flightMs;
    expect(story(endsAt)).toEqual([]);
    expect(story(endsAt - 1)).toHaveLength(1);
    expect(story(1_000 + reservationMs)).toHaveLength(1);
  });

  it('is not excused when it was acknowledged or its node never acknowledges', () => {
    const again = [1_000 + unacknowledgedMs, started('n', 'b')] as const;
    expect(
      check(acknowledging, [1_000, started('n', 'a')], [3_000, acknowledged('a')], again).violations,
    ).toHaveLength(1);
    expect(check(up('n', 1), [1_000, started('n', 'a')], again).violations).toHaveLength(1);
  });

  it.each([
    ['node_cut', 'n'],
    ['node_partitioned', 'n'],
    ['network_bad', '*'],
  ] as const)('may have been abandoned if %s lost its acknowledgement', (what, target) => {
    const story = (at: number, who: string) =>
      check(
        acknowledging,
        [1_000, started('n', 'a')],
        [1_050, acknowledged('a')],
        [at, fault(1, what, who)],
        [at + 1, healed(1)],
        [12_000, started('n', 'b')],
      ).violations;
    expect(story(1_500, target)).toEqual([]);
    expect(story(1_600, target)).toHaveLength(1);
    expect(story(1_500, 'm')).toHaveLength(1);
  });

  it('may have been sent at any time since its node became unreachable', () => {
    const story = (startedAt: number) =>
      check(
        acknowledging,
        [1_000, fault(1, 'node_partitioned', 'n')],
        [6_000, healed(1)],
        [startedAt, started('n', 'a')],
        [startedAt + 1, acknowledged('a')],
        [startedAt + 2, started('n', 'b')],
      ).violations;
    expect(story(6_000)).toEqual([]);
    expect(story(6_600)).toHaveLength(1);
  });

  it('keeps its slot for the whole lease if its node never acknowledges', () => {
    const story = (cutAt: number, isExact: boolean) => {
      const history = imagine(
        up('n', 1),
        [1_000, started('n', 'a')],
        [cutAt, fault(1, 'node_cut', 'n')],
        [cutAt, healed(1)],
        [12_000, started('n', 'b')],
      );
      return checkCapacity(gatherFacts(history), { ...ALLOWANCES, isExact }).violations;
    };
    expect(story(1_100, true)).toHaveLength(1);
    // In runs of real processes it is unknown whether the node received the job before the cut.
    expect(story(1_100, false)).toEqual([]);
    expect(story(1_600, false)).toHaveLength(1);
  });

  it('may have been reserved some time before it was sent if a fault delayed it', () => {
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
    const endsAt = 4_000 + unacknowledgedMs - flightMs;
    expect(story(true, 4_000, endsAt)).toEqual([]);
    expect(story(true, 4_000, endsAt - 1)).toHaveLength(1);
    expect(story(true, 4_001, endsAt)).toHaveLength(1);
    expect(story(false, 4_000, endsAt)).toHaveLength(1);
  });

  it.each([
    ['shard_frozen', 's'],
    ['instance_frozen', 'i'],
    ['instance_cut_off', 'i'],
    ['instance_killed', 'd'],
  ] as const)(
    'is not excused because %s delays the acknowledgement on its way to the driver',
    (what, who) => {
      const story = (healedAt: number, at: number) =>
        check(
          acknowledging,
          [960, { kind: 'message_sent', from: 'd', to: 'i', node: 'n', job: 'a' }],
          [1_000, { kind: 'assigned', node: 'n', job: 'a', attempt: 1, instance: 'i' }],
          [1_000, started('n', 'a')],
          [4_100, fault(1, what, who)],
          [4_200, acknowledged('a')],
          [healedAt, healed(1)],
          [at, started('n', 'b')],
        ).violations;
      expect(story(5_500, 6_000)).toHaveLength(1);
      expect(story(5_500, 1_000 + unacknowledgedMs)).toHaveLength(1);
      expect(story(10_900, 1_000 + unacknowledgedMs)).toHaveLength(1);
    },
  );

  it('may have been abandoned if its holder ended before the acknowledgement', () => {
    const story = (ended: string) =>
      check(
        acknowledging,
        [1_000, { kind: 'assigned', node: 'n', job: 'a', attempt: 1, instance: 'i' }],
        [1_000, { kind: 'assigned', node: 'n', job: 'z', attempt: 1, instance: 'other' }],
        [1_000, started('n', 'a')],
        [4_000, { kind: 'instance_down', instance: ended, isMeant: true }],
        [4_200, acknowledged('a')],
        [1_000 + unacknowledgedMs, started('n', 'b')],
      ).violations;
    expect(story('i')).toEqual([]);
    expect(story('other')).toHaveLength(1);
  });

  it('may have lost its slot if its next attempt began before the acknowledgement', () => {
    const story = (successorAt: number) =>
      check(
        acknowledging,
        up('m'),
        [1_000, started('n', 'a')],
        [successorAt, started('m', 'a', 2)],
        [4_500, acknowledged('a')],
        [1_000 + unacknowledgedMs, started('n', 'b')],
      ).violations;
    expect(story(4_400)).toEqual([]);
    expect(story(4_600)).toHaveLength(1);
  });

  it('was reserved after the attempt before it started', () => {
    const story = (startedAt: number) =>
      check(
        acknowledging,
        up('m'),
        [1_000, fault(1, 'shard_frozen')],
        [2_000, healed(1)],
        [startedAt, started('m', 'a')],
        [5_500, started('n', 'a', 2)],
        [4_000 + unacknowledgedMs - flightMs, started('n', 'b')],
      ).violations;
    expect(story(4_000)).toEqual([]);
    expect(story(4_100)).toHaveLength(1);
  });

  it('may have been reserved before its node became unreachable if a fault delayed it', () => {
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
        [5_000, fault(2, 'node_partitioned', 'n')],
        [9_000, started('n', 'a')],
        [9_001, acknowledged('a')],
        [9_100, started('n', 'b')],
        [9_200, healed(2)],
        [9_300, accepted('r', 'a')],
      ).violations;
    expect(story(true)).toEqual([]);
    expect(story(false)).toHaveLength(1);
  });

  describe('while its node was frozen', () => {
    const slept = (sleptMs: number, ...rest: readonly Step[]) =>
      check(
        acknowledging,
        [1_000, fault(1, 'node_frozen', 'n')],
        [1_000 + sleptMs, healed(1)],
        [1_000 + sleptMs, started('n', 'a')],
        ...rest,
      ).violations;

    it('may have been abandoned if the node was frozen long enough', () => {
      expect(slept(4_000, [5_100, started('n', 'b')])).toHaveLength(1);
      expect(slept(5_000, [6_100, started('n', 'b')])).toEqual([]);
    });

    it('takes a slot again when it is acknowledged and not cancelled', () => {
      const ack = [6_010, acknowledged('a')] as const;
      const soon = 6_010 + reservationMs;
      expect(slept(5_000, ack, [soon - 1, started('n', 'b')])).toEqual([]);
      expect(slept(5_000, ack, [soon, started('n', 'b')])).toHaveLength(1);
      expect(
        slept(
          5_000,
          ack,
          [6_020, { kind: 'cancel_received', node: 'n', job: 'a' }],
          [soon, started('n', 'b')],
        ),
      ).toEqual([]);
    });
  });

  it('is excused exactly from the end of its whole lease on', () => {
    const story = (at: number) => check(up('n', 1), [0, started('n', 'a')], [at, started('n', 'b')]);
    expect(story(leaseMs - 1).violations).toHaveLength(1);
    expect(story(leaseMs).violations).toEqual([]);
    expect(story(leaseMs).counts['oversold beside jobs whose lease had ended']).toBe(1);
  });
});
