/** What nodes said while nobody could be told: kept in order per job, brought once, and bounded. */
import { describe, expect, it } from 'vitest';
import type { NodeReport } from '../../src/cluster/holder/node-report.ts';
import { createPendingReports } from '../../src/cluster/holder/pending-reports.ts';
import { RESULT } from '../contracts/job-draft.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTally, QUIET } from './post-rig.ts';

const HOLD_MS = 90_000;
/** Long enough for everything that waits to be tried once more. */
const SOON_MS = 300;

const acknowledged = (jobId: string): NodeReport => ({
  say: 'acknowledged',
  answer: { jobId, nodeId: 'node-1', attempt: 1 },
});
const finished = (jobId: string): NodeReport => ({ ...acknowledged(jobId), say: 'finished', result: RESULT });
const nameOf = ({ say, answer }: NodeReport): string => `${answer.jobId} ${say}`;

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

/** Takes nothing until it is told what to say. */
function openQuestion() {
  let settle: (isTaken: boolean) => void = () => {};
  const asked = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { asked, settle };
}

describe('answers that are held', () => {
  it('are brought in the order they were said, once, and then nothing is left', async () => {
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

  it('do not wait for those of another job that takes long to be heard, and that one is not told twice', async () => {
    const { clock, held, state } = hold();
    const { asked, settle } = openQuestion();
    state.take = ({ answer }) => (answer.jobId === 'a' ? asked : Promise.resolve(true));
    held.add(finished('a'));
    await clock.advance(SOON_MS);
    held.add(finished('b'));
    await clock.advance(4 * SOON_MS);
    expect([state.brought, state.tries]).toEqual([['b finished'], 2]);
    settle(true);
    await clock.advance(2 * SOON_MS);
    expect([state.brought, held.size(), clock.pending()]).toEqual([['b finished', 'a finished'], 0, 0]);
  });

  it('are brought although others, which were to be tried after the first, made room meanwhile', async () => {
    const { clock, held, state } = hold({ maxBytes: 20_000 });
    const { asked, settle } = openQuestion();
    state.take = () => asked;
    for (let job = 0; job < 65; job++) held.add(acknowledged(`job-${job}`));
    await clock.advance(260);
    const long = { ...RESULT, ttsAudio: 'A'.repeat(20_000) };
    held.add({ ...acknowledged('last'), say: 'finished', result: long });
    settle(true);
    await clock.advance(2 * SOON_MS);
    expect([state.brought.at(-1), held.size(), clock.pending()]).toEqual(['last finished', 0, 0]);
  });

  it.each([
    ['is refused', async () => false],
    ['fails', async () => Promise.reject(new Error('the store is away'))],
  ])(
    'are tried again when it %s, and keep back only what was said later of the same job',
    async (_, take) => {
      const { clock, held, state } = hold();
      state.take = async (report) => (report.answer.jobId === 'a' ? take() : true);
      for (const report of [acknowledged('a'), finished('a'), finished('b')]) held.add(report);
      await clock.advance(3 * SOON_MS);
      expect(state.brought).toEqual(['b finished']);
      expect([held.size(), held.holds('a')]).toEqual([2, true]);
      state.take = async () => true;
      await clock.advance(SOON_MS);
      expect(state.brought).toEqual(['b finished', 'a acknowledged', 'a finished']);
    },
  );

  it('take with them what is said of the job while they are on their way', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.asked;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.add(finished('a'));
    question.settle(true);
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['a acknowledged', 'a finished']);
    expect([held.size(), held.holds('a')]).toEqual([0, false]);
  });

  it('are tried again with what was said meanwhile if they could not be brought', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.asked;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.add(finished('a'));
    question.settle(false);
    await clock.advance(0);
    state.take = async () => true;
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['a acknowledged', 'a finished']);
  });

  it('are all tried, however many jobs they are of, with no more than a portion at once', async () => {
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

describe('answers that nobody takes', () => {
  it('are given up when their job has its outcome in any case, and counted', async () => {
    const { clock, held, state, dropped } = hold();
    state.take = async () => false;
    held.add(acknowledged('a'));
    held.add(finished('a'));
    await clock.advance(HOLD_MS);
    expect([held.size(), dropped('too_old')]).toEqual([2, 0]);
    await clock.advance(SOON_MS);
    expect([held.size(), held.holds('a'), dropped('too_old'), clock.pending()]).toEqual([0, false, 2, 0]);
  });

  it('make room for newer ones at the limit of their number, oldest job first', async () => {
    const { clock, held, state, dropped } = hold({ maxHeld: 3 });
    for (const report of [acknowledged('a'), finished('a'), acknowledged('b')]) held.add(report);
    held.add(acknowledged('c'));
    expect([held.holds('a'), held.holds('b'), held.holds('c'), held.size()]).toEqual([false, true, true, 2]);
    expect(dropped('too_many')).toBe(2);
    await clock.advance(SOON_MS);
    expect(state.brought).toEqual(['b acknowledged', 'c acknowledged']);
  });

  it('make room at the limit of their bytes', () => {
    const one = JSON.stringify(finished('a')).length;
    const { held, dropped } = hold({ maxBytes: 2 * one });
    for (const jobId of ['a', 'b', 'c']) held.add(finished(jobId));
    expect([held.holds('a'), held.size(), dropped('too_many')]).toEqual([false, 2, 1]);
    held.add({ ...acknowledged('d'), say: 'finished', result: { ...RESULT, textAsr: 'x'.repeat(one) } });
    expect([held.holds('d'), held.size(), dropped('too_many')]).toEqual([true, 1, 3]);
  });

  it('give back their bytes once they are brought or given up', async () => {
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

  it('are counted once when they make room while they are on their way', async () => {
    const { clock, held, state, dropped } = hold({ maxHeld: 1 });
    const question = openQuestion();
    state.take = () => question.asked;
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
  it('nothing is tried any more', async () => {
    const { clock, held, state } = hold();
    held.add(acknowledged('a'));
    held.stop();
    await clock.advance(10 * SOON_MS);
    expect(state.tries).toBe(0);
  });

  it('nothing is tried any more although a try was under way', async () => {
    const { clock, held, state } = hold();
    const question = openQuestion();
    state.take = () => question.asked;
    held.add(acknowledged('a'));
    await clock.advance(SOON_MS);
    held.stop();
    question.settle(false);
    await clock.advance(10 * SOON_MS);
    expect([state.tries, clock.pending()]).toEqual([1, 0]);
  });
});
