/** The holder of a node keeps the slots of what it handed to it for others, and asks nothing of the store for what is over by then. */
import { describe, expect, it } from 'vitest';
import { createSlotKeeping, type Handed } from '../../src/cluster/holder/slot-keeping.ts';
import { ANY_ATTEMPT } from '../../src/domain/node-report.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { QUIET } from './post-rig.ts';

const RUNNING_MS = 65_000;
const SLOT_MS = 5_000;
const ANSWER = { nodeId: 'node-1', jobId: 'job-1', attempt: 2 };
const keptFor = (ttlMs: number): string => `node-1 job-1:2 ${ttlMs}`;
/** One second before its reservation ends. */
const KEPT = keptFor(RUNNING_MS - (SLOT_MS - 1_000));

function start() {
  const clock = createManualClock();
  const generations = new Map([['node-1', 7]]);
  const kept: string[] = [];
  const state = { isHeld: true, lasting: 'a/1 0' };
  let faults = 0;
  const slots = createSlotKeeping({
    async keep(nodeId, lease, ttlMs) {
      if (faults > 0) {
        faults -= 1;
        throw new Error('the store is away');
      }
      kept.push(`${nodeId} ${lease} ${ttlMs}`);
      return state.isHeld;
    },
    lastsBy: (driver, slotNumber) => state.lasting === `${driver} ${slotNumber}`,
    generationOf: (nodeId) => generations.get(nodeId),
    isHeldElsewhere: (nodeId) => nodeId === 'node-elsewhere',
    runningTtlMs: RUNNING_MS,
    reservationTtlMs: SLOT_MS,
    clock,
    log: QUIET,
  });
  const handed = (parts: Partial<Handed> = {}): void =>
    slots.handed({
      ...ANSWER,
      generation: 7,
      slotUntil: clock.now() + SLOT_MS,
      isTaken: false,
      driver: 'a/1',
      slotNumber: 9,
      ...parts,
    });
  function fail(times: number): void {
    faults = times;
  }
  return { clock, generations, kept, state, slots, handed, fail };
}

describe('the slot of a job that was handed to a node for another instance', () => {
  it('I1 no oversell: is kept before its reservation ends, once, if the node took the job', async () => {
    const { clock, kept, slots, handed } = start();
    handed();
    slots.taken(ANSWER);
    await clock.advance(SLOT_MS - 1_250);
    expect(kept).toEqual([]);
    await clock.advance(500);
    expect(kept).toEqual([KEPT]);
    await clock.advance(10 * SLOT_MS);
    expect([kept, clock.pending()]).toEqual([[KEPT], 0]);
  });

  it('I2 no leak: is kept until it would have ended had its driver made it last, and no longer', async () => {
    const { clock, kept, handed } = start();
    const handedAt = clock.now();
    handed({ isTaken: true, slotUntil: handedAt + 3_000 });
    await clock.advance(2_000);
    expect(kept).toEqual([keptFor(RUNNING_MS - 2_000)]);
  });

  it('is kept if the node never says what it took', async () => {
    const { clock, kept, handed } = start();
    handed({ isTaken: true });
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([KEPT]);
  });

  it('is kept at the last moment if the node says so late, and not after it', async () => {
    const { clock, kept, slots, handed } = start();
    handed();
    await clock.advance(SLOT_MS - 500);
    slots.taken(ANSWER);
    await clock.advance(250);
    expect(kept).toEqual([keptFor(RUNNING_MS - (SLOT_MS - 250))]);
  });

  it('is left alone if the job is over by then, or the node never took it', async () => {
    const { clock, kept, slots, handed } = start();
    handed();
    slots.taken(ANSWER);
    await clock.advance(1_000);
    slots.over({ ...ANSWER, attempt: ANY_ATTEMPT });
    handed({ jobId: 'job-2' });
    await clock.advance(10 * SLOT_MS);
    expect(kept).toEqual([]);
  });

  it('is left alone if its driver has said by then that it lasts, and kept if it says so of others only', async () => {
    const { clock, kept, state, handed } = start();
    handed({ isTaken: true });
    handed({ jobId: 'job-2', isTaken: true, slotNumber: undefined });
    handed({ jobId: 'job-3', isTaken: true, driver: 'a/2' });
    await clock.advance(SLOT_MS - 1_500);
    state.lasting = 'a/1 9';
    await clock.advance(10 * SLOT_MS);
    expect(kept.map((text) => text.split(' ')[1])).toEqual(['job-2:2', 'job-3:2']);
  });

  it('is left alone if the connection has ended, also if there is another by now', async () => {
    const { clock, generations, kept, handed } = start();
    handed({ isTaken: true });
    generations.set('node-1', 8);
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([]);
  });

  it('is kept for the node that has it, whatever another node of this instance says of the same job', async () => {
    const { clock, kept, slots, handed } = start();
    handed();
    slots.taken(ANSWER);
    slots.over({ ...ANSWER, nodeId: 'node-2', attempt: 1 });
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([KEPT]);
  });

  it('is tried again while it lasts, should the store not answer', async () => {
    const { clock, kept, handed, fail } = start();
    fail(2);
    handed({ isTaken: true });
    await clock.advance(SLOT_MS - 1);
    expect(kept).toEqual([keptFor(RUNNING_MS - (SLOT_MS - 500))]);
    fail(100);
    handed({ isTaken: true });
    await clock.advance(SLOT_MS);
    fail(0);
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([keptFor(RUNNING_MS - (SLOT_MS - 500))]);
  });

  it('is kept at once if it was not handed out here: its node had another connection then', () => {
    const { kept, slots } = start();
    slots.taken(ANSWER);
    expect(kept).toEqual([keptFor(RUNNING_MS)]);
    slots.taken({ ...ANSWER, attempt: ANY_ATTEMPT });
    slots.taken({ ...ANSWER, nodeId: 'node-2' });
    expect(kept).toEqual([keptFor(RUNNING_MS)]);
  });

  it('I1 no oversell: is tried again if it was not handed out here, for as long as its reservation may last', async () => {
    const { clock, kept, slots, fail } = start();
    fail(4);
    slots.taken(ANSWER);
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([keptFor(RUNNING_MS - 1_000)]);
    fail(100);
    slots.taken({ ...ANSWER, jobId: 'job-2' });
    await clock.advance(SLOT_MS);
    fail(0);
    await clock.advance(SLOT_MS);
    expect([kept.length, slots.size()]).toEqual([1, 0]);
  });

  it('begins anew before a late job is handed over, if it is still held, and the store says so', async () => {
    const { clock, kept, state, slots, fail } = start();
    expect(await slots.secure(ANSWER)).toBe(clock.now() + SLOT_MS);
    expect(kept).toEqual([keptFor(SLOT_MS)]);
    state.isHeld = false;
    expect(await slots.secure(ANSWER)).toBeUndefined();
    fail(1);
    await expect(slots.secure(ANSWER)).rejects.toThrow('the store is away');
  });

  it('I1 no oversell: is kept by whoever hears over HTTP that its node took it, and at once, if another drives it', async () => {
    const { clock, kept, slots, fail } = start();
    for (const nodeId of ['node-1', 'node-elsewhere', 'node-that-polls']) {
      const { isKept, accepted } = slots.beside({ ...ANSWER, nodeId }, false);
      expect([isKept, kept]).toEqual([true, []]);
      accepted();
      expect(kept.splice(0)).toEqual([`${nodeId} job-1:2 ${RUNNING_MS}`]);
    }
    const unnamed = slots.beside({ ...ANSWER, attempt: ANY_ATTEMPT }, false);
    unnamed.accepted();
    expect(unnamed.isKept).toBe(false);
    // Its driver makes the lease last all the same.
    fail(1);
    slots.beside(ANSWER, false).accepted();
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([]);
  });

  it('is left to a driver that is here, unless that leaves it to the holder of a socket, who has not heard', async () => {
    const { clock, kept, slots } = start();
    for (const nodeId of ['node-1', 'node-that-polls', 'node-elsewhere'])
      slots.beside({ ...ANSWER, nodeId }, true).accepted();
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([`node-elsewhere job-1:2 ${RUNNING_MS}`]);
  });

  it('is kept when its node says so beside its own socket here', async () => {
    const { clock, kept, slots, handed } = start();
    handed();
    const { isKept, accepted } = slots.beside(ANSWER, false);
    accepted();
    expect([isKept, kept]).toEqual([false, []]);
    await clock.advance(SLOT_MS);
    expect(kept).toEqual([KEPT]);
  });
});
