/** Who waits for a job, when the answer to its request comes after the utterance has its outcome or is nobody's any more. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { DispatchOutcome, DispatchRequest } from '../../src/domain/dispatch.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import { createJobWatch } from '../../src/session/outcomes/job-watch.ts';
import type { Session, Utterance } from '../../src/session/session.ts';
import { settled } from './scripted-desk.ts';

const SESSION = { isShared: false } as Session;
const recordOf = (jobId: string, more: Partial<JobRecord> = {}): JobRecord =>
  ({ jobId, state: 'DISPATCHED', ...more }) as JobRecord;
const REFUSED: DispatchOutcome = { kind: 'refused', code: 'NO_AVAILABLE_NODE', message: 'nobody is free' };

const sent = (jobId: string, more: Partial<JobRecord> = {}) =>
  ({ kind: 'dispatched', job: recordOf(jobId, more), isRepeat: false }) as const;

/** One utterance that was asked for, and whose answer is in the hands of the test. */
function asked() {
  const utterance = {
    jobId: 'job-1',
    isSettled: false,
    acceptance: 'received',
    watch: 'watched',
  } as Utterance;
  const cancelled: string[] = [];
  const followed = new Set<Utterance>();
  const beingAsked = new Set<Utterance>();
  const posted: string[] = [];
  let request: DispatchRequest | undefined;
  let answer: (outcome: DispatchOutcome) => void = () => {};
  const watch = createJobWatch({
    jobs: { cancel: async (jobId) => void cancelled.push(jobId) },
    dispatcher: {
      dispatch(_, given) {
        request = given;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      stop() {},
    },
    dispatching: beingAsked,
    elsewhere: {
      follow: (one) => void followed.add(one),
      stop: (one) => void followed.delete(one),
      stopAll() {},
    },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    post: (_, { kind }) => void posted.push(kind),
  });
  watch.dispatch(SESSION, utterance, {} as DispatchRequest);
  return {
    watch,
    utterance,
    cancelled,
    followed,
    beingAsked,
    posted,
    admit: (jobId: string) => request?.admitted?.(recordOf(jobId)),
    async answer(outcome: DispatchOutcome) {
      answer(outcome);
      await settled();
    },
  };
}

describe.each([
  [
    'has its outcome',
    ({ watch, utterance }: ReturnType<typeof asked>) => {
      utterance.isSettled = true;
      watch.forget(utterance);
    },
  ],
  [
    'was given up',
    ({ watch, utterance }: ReturnType<typeof asked>) => watch.cancel(utterance, 'too late', 'RESULT_TIMEOUT'),
  ],
  [
    'is waited for by another instance',
    ({ watch, utterance }: ReturnType<typeof asked>) => watch.handOver(utterance),
  ],
])('an utterance that %s', (_, happens) => {
  let one: ReturnType<typeof asked>;
  beforeEach(() => {
    one = asked();
    happens(one);
    one.cancelled.length = 0;
  });

  it('waits for no job that is recorded after that under another name', async () => {
    one.admit('job-2');
    expect([one.watch.size(), one.utterance.jobId]).toEqual([0, 'job-1']);
    await one.answer(sent('job-2'));
    expect([one.watch.size(), one.followed.size, one.cancelled]).toEqual([0, 0, ['job-2']]);
  });

  it('is not followed any more, nor anew', () => {
    one.watch.follow(SESSION, one.utterance);
    expect([one.watch.size(), one.followed.size]).toEqual([0, 0]);
  });
});

it.each([
  ['that gave its outcome', 'job-1', false],
  ['that another asked for first', 'job-2', true],
])('the job %s is not cancelled when that is heard after the outcome', async (_, jobId, isRepeat) => {
  const { watch, utterance, cancelled, followed, answer } = asked();
  utterance.isSettled = true;
  watch.forget(utterance);
  await answer({ ...sent(jobId), isRepeat });
  expect([cancelled, followed.size, watch.size()]).toEqual([[], 0, 0]);
});

it('a job is not followed any more when nobody waits for it', async () => {
  const { watch, utterance, followed, answer } = asked();
  await answer({ ...sent('job-1'), isRepeat: true });
  expect(followed.size).toBe(1);
  watch.forget(utterance);
  expect(followed.size).toBe(0);
});

it.each([
  ['under the name it is known by', sent('job-1')],
  ['under another, by its request', sent('job-2', { requestId: 'r' })],
  ['not at all', REFUSED],
])('a job that another instance waits for is not cancelled when it is found %s', async (_, outcome) => {
  const { watch, utterance, cancelled, posted, answer } = asked();
  watch.handOver(utterance);
  await answer(outcome);
  expect([cancelled, posted, watch.size()]).toEqual([[], [], 0]);
});

describe('audio that was offered again to the job of another instance', () => {
  function offered() {
    const one = asked();
    one.utterance.acceptance = 'admitted';
    one.watch.follow(SESSION, one.utterance);
    return one;
  }

  it('may be refused: that job goes on, and is followed', async () => {
    const { posted, followed, beingAsked, answer } = offered();
    expect(beingAsked.size).toBe(1);
    await answer(REFUSED);
    expect([posted, followed.size, beingAsked.size]).toEqual([[], 1, 0]);
  });

  it('that is taken is followed where it is, unless it is over', async () => {
    const running = offered();
    await running.answer({ ...sent('job-1'), isRepeat: true });
    expect([running.posted, running.followed.size]).toEqual([['dispatched'], 1]);
    const over = offered();
    await over.answer({ ...sent('job-1', { state: 'RELEASED' }), isRepeat: true });
    expect([over.posted, over.followed.size]).toEqual([['dispatched'], 0]);
  });

  it('and became a job of this instance, is not followed: it is heard here', async () => {
    const { posted, followed, answer } = offered();
    await answer(sent('job-1'));
    expect([posted, followed.size]).toEqual([['dispatched'], 0]);
  });

  it('and was recorded here before it was refused, is refused to its session', async () => {
    const { posted, admit, answer } = offered();
    admit('job-1');
    await answer(REFUSED);
    expect(posted).toEqual(['admitted', 'dispatched']);
  });
});
