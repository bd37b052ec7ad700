/** Reports that could not be sent yet: in order per job, sent once, and bounded. */
import { describe, expect, it } from 'vitest';
import type { NodeReport } from '../../../src/cluster/holder/node-report.ts';
import { createPendingReports } from '../../../src/cluster/holder/pending-reports.ts';
import { RESULT } from '../../contracts/job-draft.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createTally, QUIET } from '../messaging/message-bus-rig.ts';

const HOLD_MS = 90_000;
/** Long enough for everything that waits to be tried once more. */
const SOON_MS = 300;

const acknowledged = (jobId: string): NodeReport => ({
  kind: 'acknowledged',
  attempt: { jobId, nodeId: 'node-1', attempt: 1 },
});
const finished = (jobId: string): NodeReport => ({
  ...acknowledged(jobId),
  kind: 'finished',
  result: RESULT,
});
const nameOf = ({ kind, attempt }: NodeReport): string => `${attempt.jobId} ${kind}`;

function hold({ maxHeld = 1_000, maxBytes = 1_000_000 } = {}) {
  const clock = createManualClock();
  const { meter, counted } = createTally();
  const held = createPendingReports({ clock, log: QUIET, meter, holdMs: HOLD_MS, maxHeld, maxBytes });
  const state = {
    brought: [] as string[],
    tries: 0,
    /** Whether one can be handed over now. */
    take: async (_: NodeReport): Promise<boolean> => true,
  };
  held.onTry(async (report) => {
    state.tries += 1;
    const isTaken = await state.take(report);
    if (isTaken) state.brought.push(nameOf(report));
    return isTaken;
  });
  const dropped = (reason: string): number => counted(`scheduler_node_reports_dropped_total ${reason}`);
  return { clock, held, state, dropped };
}

/** Every send waits until `answer` is called. */
function openQuestion() {
  let settle: (isTaken: boolean) => void = () => {};
  const requested = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { requested, settle };
}

describe('pending reports', () => {
  it('are sent once, in their order', async () => {
    const { clock, held, state } = hold();
    held.add(acknowledged('a'));
    held.add(finished('a'));
    expect([held.size(), held.holds('a'), held.holds('b'), clock.pending()]).toEqual([2, true, false, 1]);
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['a acknowledged', 'a finished']);
    await clock.advance(10 * SOON_MS);
    expect(state.brought).toHaveLength(2);
    expect([held.size(), held.holds('a'), clock.pending()]).toEqual([0, false, 0]);
  });

  it('do not wait for a slow send of another job', async () => {
    const { clock, held, state } = hold();
    const { requested, settle } = openQuestion();
    state.take = ({ attempt }) => (attempt.jobId === 'a' ? requested : Promise.resolve(true));
    held.add(finished('a'));
    await clock.advance(SOON_MS);
    held.add(finished('b'));
    await clock.advance(4 * SOON_MS);
    expect([state.brought, state.tries]).toEqual([['b finished'], 2]);
    settle(true);
    await clock.advance(2 * SOON_MS);
    expect([state.brought, held.size(), clock.pending()]).toEqual([['b finished', 'a finished'], 0, 0]);
  });

  it('are sent although others were dropped at the limit meanwhile', async () => {
    const { clock, held, state } = hold({ maxBytes: 20_000 });
    const { requested, settle } = openQuestion();
    state.take = () => requested;
    for (let job = 0; job < 65; job++) held.add(acknowledged(`job-${job}`));
    await clock.advance(260);
    const long = { ...RESULT, ttsAudio: 'A'.repeat(20_000) };
    held.add({ ...acknowledged('last'), kind: 'finished', result: long });
    settle(true);
    await clock.advance(2 * SOON_MS);
    expect([state.brought.at(-1), held.size(), clock.pending()]).toEqual(['last finished', 0, 0]);
  });

  it.each([
    ['is refused', async () => false],
    ['fails', async () => Promise.reject(new Error('the store is away'))],
  ])('are retried when the send %s, before later reports of the job', async (_, take) => {
    const { clock, held, state } = hold();
    state.take = async (report) => (report.attempt.jobId === 'a' ? take() : true);
    for (const report of [acknowledged('a'), finished('a'), finished('b')]) held.add(report);
    await clock.advance(3 * SOON_MS);
    expect(state.brought).toEqual(['b finished']);
    expect([held.size(), held.holds('a')]).toEqual([2, true]);
    state.take = async () => true;
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['b finished', 'a acknowledged', 'a finished']);
  });

  it('are sent together with reports that came during the send', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.requested;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.add(finished('a'));
    question.settle(true);
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['a acknowledged', 'a finished']);
    expect([held.size(), held.holds('a')]).toEqual([0, false]);
  });

  it('are retried together with reports that came meanwhile', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.requested;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.add(finished('a'));
    question.settle(false);
    await clock.advance(0);
    state.take = async () => true;
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['a acknowledged', 'a finished']);
  });

  it('are retried in bounded portions until all were tried', async () => {
    const { clock, held, state } = hold();
    let [now, most] = [0, 0];
    state.take = async () => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return true;
    };
    for (let at = 0; at < 500; at += 1) held.add(acknowledged(`job-${at}`));
    await clock.advance(SOON_MS);
    expect(new Set(state.brought).size).toBe(500);
    expect(most).toBeLessThanOrEqual(64);
  });
});

describe('pending reports that cannot be sent', () => {
  it('are dropped and counted after the job deadline', async () => {
    const { clock, held, state, dropped } = hold();
    state.take = async () => false;
    held.add(acknowledged('a'));
    held.add(finished('a'));
    await clock.advance(HOLD_MS);
    expect([held.size(), dropped('too_old')]).toEqual([2, 0]);
    await clock.advance(SOON_MS);
    expect([held.size(), held.holds('a'), dropped('too_old'), clock.pending()]).toEqual([0, false, 2, 0]);
  });

  it('are dropped at the limit of their number, oldest job first', async () => {
    const { clock, held, state, dropped } = hold({ maxHeld: 3 });
    for (const report of [acknowledged('a'), finished('a'), acknowledged('b')]) held.add(report);
    held.add(acknowledged('c'));
    expect([held.holds('a'), held.holds('b'), held.holds('c'), held.size()]).toEqual([false, true, true, 2]);
    expect(dropped('too_many')).toBe(2);
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['b acknowledged', 'c acknowledged']);
  });

  it('are dropped at the limit of their bytes', () => {
    const one = JSON.stringify(finished('a')).length;
    const { held, dropped } = hold({ maxBytes: 2 * one });
    for (const jobId of ['a', 'b', 'c']) held.add(finished(jobId));
    expect([held.holds('a'), held.size(), dropped('too_many')]).toEqual([false, 2, 1]);
    held.add({ ...acknowledged('d'), kind: 'finished', result: { ...RESULT, textAsr: 'x'.repeat(one) } });
    expect([held.holds('d'), held.size(), dropped('too_many')]).toEqual([true, 1, 3]);
  });

  it('free their bytes once they are sent or dropped', async () => {
    const one = JSON.stringify(finished('a')).length;
    const { clock, held, state, dropped } = hold({ maxBytes: 2 * one });
    for (let round = 0; round < 5; round += 1) {
      for (const jobId of ['a', 'b']) held.add(finished(jobId));
      await clock.advance(SOON_MS);
    }
    expect(state.brought).toHaveLength(10);
    expect(dropped('too_many')).toBe(0);
    state.take = async () => false;
    for (let round = 0; round < 5; round += 1) {
      for (const jobId of ['a', 'b']) held.add(finished(jobId));
      await clock.advance(HOLD_MS + SOON_MS);
    }
    expect(dropped('too_old')).toBe(10);
    expect(dropped('too_many')).toBe(0);
  });

  it('are counted once when dropped during their send', async () => {
    const { clock, held, state, dropped } = hold({ maxHeld: 1 });
    const question = openQuestion();
    state.take = () => question.requested;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.add(acknowledged('b'));
    held.add(acknowledged('a'));
    question.settle(true);
    state.take = async () => false;
    await clock.advance(0);
    expect([held.size(), held.holds('a'), dropped('too_many')]).toEqual([1, true, 2]);
  });
});

describe('after a stop', () => {
  it('no report is sent', async () => {
    const { clock, held, state } = hold();
    held.add(acknowledged('a'));
    held.stop();
    await clock.advance(10 * SOON_MS);
    expect(state.tries).toBe(0);
  });

  it('no report is sent after the try that was under way', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.requested;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.stop();
    question.settle(false);
    await clock.advance(10 * SOON_MS);
    expect([state.tries, clock.pending()]).toEqual([1, 0]);
  });
});
