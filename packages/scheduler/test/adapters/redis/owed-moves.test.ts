/** When owed moves are written, and what becomes of those that were not. */
import { describe, expect, it } from 'vitest';
import { createKnownJobs } from '../../../src/adapters/shared-jobs/known-jobs.ts';
import {
  createOwedMoves,
  expectedOf,
  type OwedMove,
  SOON_MS,
} from '../../../src/adapters/shared-jobs/owed-moves.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { changeTo, draftRequest } from '../../contracts/job-draft.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const FENCE = { nodeId: 'node-a', attempt: 1 };
const DISPATCHED = changeTo('DISPATCHED', { fence: FENCE, intent: null });
const RUNNING = changeTo('RUNNING');
const LONG_MS = 1_000;

function start() {
  const clock = createManualClock();
  const known = createKnownJobs({ maxKnown: 100 });
  const writes: { jobId: string; move: OwedMove; at: number; answer: (isWritten: boolean) => void }[] = [];
  const owed = createOwedMoves({
    clock,
    known,
    write: (jobId, move) => new Promise((answer) => writes.push({ jobId, move, at: clock.now(), answer })),
  });
  return {
    clock,
    known,
    owed,
    writes,
    answer: (index: number, isWritten: boolean) => writes[index]?.answer(isWritten),
    /** From what to what each write goes. */
    spans: () => writes.map(({ jobId, move }) => `${jobId} ${move.expected.state} ${move.change.state}`),
    draft(jobId: string): JobRecord {
      const job = { ...draftRequest(clock.now(), { state: 'RESERVED', intent: FENCE }), jobId };
      known.note(job, job.timeline.length);
      return job;
    },
    owe(job: JobRecord, change = DISPATCHED): JobRecord {
      const moved = owed.owe('a/1', job.jobId, expectedOf(job), change);
      if (moved === undefined) throw new Error('it had to be asked');
      return moved;
    },
  };
}

describe('a move that is owed', () => {
  it('is written after a moment, with what came within it', async () => {
    const { clock, draft, owe, spans } = start();
    const sent = owe(draft('one'));
    await clock.advance(SOON_MS - 1);
    owe(sent, RUNNING);
    expect(spans()).toEqual([]);
    await clock.advance(1);
    expect(spans()).toEqual(['one RESERVED RUNNING']);
    expect(clock.pending()).toBe(0);
  });

  it('is written again, a while after it was not', async () => {
    const { clock, draft, owe, answer, spans } = start();
    owe(draft('one'));
    await clock.advance(SOON_MS);
    answer(0, false);
    await clock.advance(SOON_MS);
    expect(spans()).toHaveLength(1);
    await clock.advance(LONG_MS);
    expect(spans()).toEqual(['one RESERVED DISPATCHED', 'one RESERVED DISPATCHED']);
    answer(1, true);
    await clock.advance(LONG_MS);
    expect(spans()).toHaveLength(2);
  });

  it.each([
    ['goes on from it if it was', true, 'one DISPATCHED RUNNING'],
    ['takes it along if it was not', false, 'one RESERVED RUNNING'],
  ])('waits until the one before is written, and %s', async (_, isWritten, span) => {
    const { clock, draft, owe, answer, spans, writes } = start();
    const sent = owe(draft('one'));
    await clock.advance(SOON_MS);
    owe(sent, RUNNING);
    await clock.advance(LONG_MS);
    expect(spans()).toEqual(['one RESERVED DISPATCHED']);
    answer(0, isWritten);
    await clock.advance(LONG_MS);
    expect(spans()).toEqual(['one RESERVED DISPATCHED', span]);
    expect(writes[1]?.move.change.passing?.map(({ state }) => state) ?? []).toEqual(
      isWritten ? [] : ['DISPATCHED'],
    );
  });

  it('is not written again once the job was moved otherwise: by then that is what counts', async () => {
    const { clock, draft, known, owe, answer, spans } = start();
    const sent = owe(draft('one'));
    await clock.advance(SOON_MS);
    known.note({ ...sent, state: 'RETRYING' }, 9);
    answer(0, false);
    await clock.advance(LONG_MS);
    expect(spans()).toEqual(['one RESERVED DISPATCHED']);
    expect(clock.pending()).toBe(0);
  });

  it('is not taken along by one that goes on from something else', async () => {
    const { clock, draft, known, owe, answer, spans } = start();
    const sent = owe(draft('one'));
    await clock.advance(SOON_MS);
    known.note(sent, 9);
    owe(sent, RUNNING);
    answer(0, false);
    await clock.advance(LONG_MS);
    expect(spans()).toEqual(['one RESERVED DISPATCHED', 'one DISPATCHED RUNNING']);
  });

  it('of one job is written at once, and what is owed of others is not', async () => {
    const { draft, owe, owed, answer, spans } = start();
    for (const id of ['one', 'two']) owe(draft(id));
    const flushed = owed.flush('one');
    expect(spans()).toEqual(['one RESERVED DISPATCHED']);
    answer(0, true);
    await flushed;
  });

  it('does not wait for jobs whose writes have failed', async () => {
    const { clock, draft, owe, answer, writes } = start();
    owe(draft('sick'));
    await clock.advance(SOON_MS);
    answer(0, false);
    await clock.advance(1);
    const owedAt = clock.now();
    owe(draft('well'));
    owe(draft('well too'));
    await clock.advance(LONG_MS);
    expect(writes.filter(({ jobId }) => jobId !== 'sick').map(({ at }) => at - owedAt)).toEqual([
      SOON_MS,
      SOON_MS,
    ]);
  });

  it('is not due any more once it was taken, nor early because of one before it', async () => {
    const { clock, draft, owe, owed, spans } = start();
    const sent = owe(draft('one'));
    await clock.advance(SOON_MS / 2);
    expect(owed.take('one')).toBeDefined();
    owe(sent, RUNNING);
    await clock.advance(SOON_MS / 2);
    expect(spans()).toEqual([]);
    await clock.advance(SOON_MS / 2);
    expect(spans()).toEqual(['one DISPATCHED RUNNING']);
  });

  it('is written at once when everything is, and no timer is left', async () => {
    const { clock, draft, owe, owed, answer, spans } = start();
    for (const id of ['one', 'two']) owe(draft(id));
    const flushed = owed.flush();
    expect(spans()).toEqual(['one RESERVED DISPATCHED', 'two RESERVED DISPATCHED']);
    answer(0, true);
    answer(1, true);
    await flushed;
    expect(clock.pending()).toBe(0);
  });
});
