/** Dispatch outcomes that arrive after the utterance is settled, abandoned or handed over. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { createJobWatch } from '../../../src/session/outcomes/job-watch.ts';
import type { Session, Utterance } from '../../../src/session/session.ts';
import { settled } from '../support/scripted-dispatcher.ts';

const SESSION = { isShared: false } as Session;
const recordOf = (jobId: string, more: Partial<JobRecord> = {}): JobRecord =>
  ({ jobId, state: 'DISPATCHED', ...more }) as JobRecord;
const REFUSED: DispatchOutcome = { kind: 'refused', code: 'NO_AVAILABLE_NODE', message: 'no node is free' };

const sent = (jobId: string, more: Partial<JobRecord> = {}) =>
  ({ kind: 'dispatched', job: recordOf(jobId, more), isRepeat: false }) as const;

/** One dispatched utterance; the test decides the dispatch outcome. */
function dispatched() {
  const utterance = {
    jobId: 'job-1',
    isSettled: false,
    acceptance: 'received',
    watch: 'watched',
  } as Utterance;
  const cancelled: string[] = [];
  const followed = new Set<Utterance>();
  const dispatching = new Set<Utterance>();
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
    dispatching: dispatching,
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
    dispatching,
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
    'is settled',
    ({ watch, utterance }: ReturnType<typeof dispatched>) => {
      utterance.isSettled = true;
      watch.forget(utterance);
    },
  ],
  [
    'is abandoned',
    ({ watch, utterance }: ReturnType<typeof dispatched>) =>
      watch.cancel(utterance, 'too late', 'RESULT_TIMEOUT'),
  ],
  ['is handed over', ({ watch, utterance }: ReturnType<typeof dispatched>) => watch.handOver(utterance)],
])('an utterance that %s', (_, happens) => {
  let one: ReturnType<typeof dispatched>;
  beforeEach(() => {
    one = dispatched();
    happens(one);
    one.cancelled.length = 0;
  });

  it('does not watch a job that is recorded later under another id', async () => {
    one.admit('job-2');
    expect([one.watch.size(), one.utterance.jobId]).toEqual([0, 'job-1']);
    await one.answer(sent('job-2'));
    expect([one.watch.size(), one.followed.size, one.cancelled]).toEqual([0, 0, ['job-2']]);
  });

  it('is not followed any more', () => {
    one.watch.follow(SESSION, one.utterance);
    expect([one.watch.size(), one.followed.size]).toEqual([0, 0]);
  });
});

it.each([
  ['of its outcome', 'job-1', false],
  ['of an earlier request', 'job-2', true],
])('the job %s is not cancelled by a late dispatch outcome', async (_, jobId, isRepeat) => {
  const { watch, utterance, cancelled, followed, answer } = dispatched();
  utterance.isSettled = true;
  watch.forget(utterance);
  await answer({ ...sent(jobId), isRepeat });
  expect([cancelled, followed.size, watch.size()]).toEqual([[], 0, 0]);
});

it('a job is not followed any more after its utterance is forgotten', async () => {
  const { watch, utterance, followed, answer } = dispatched();
  await answer({ ...sent('job-1'), isRepeat: true });
  expect(followed.size).toBe(1);
  watch.forget(utterance);
  expect(followed.size).toBe(0);
});

it.each([
  ['under its saved job id', sent('job-1')],
  ['under another job id with a request id', sent('job-2', { requestId: 'r' })],
  ['not at all', REFUSED],
])('a handed-over job is not cancelled when it is found %s', async (_, outcome) => {
  const { watch, utterance, cancelled, posted, answer } = dispatched();
  watch.handOver(utterance);
  await answer(outcome);
  expect([cancelled, posted, watch.size()]).toEqual([[], [], 0]);
});

describe('audio that is sent again for a job of another instance', () => {
  function offered() {
    const one = dispatched();
    one.utterance.acceptance = 'admitted';
    one.watch.follow(SESSION, one.utterance);
    return one;
  }

  it('refused audio leaves the remote job followed', async () => {
    const { posted, followed, dispatching, answer } = offered();
    expect(dispatching.size).toBe(1);
    await answer(REFUSED);
    expect([posted, followed.size, dispatching.size]).toEqual([[], 1, 0]);
  });

  it('a repeated job is followed unless it is settled', async () => {
    const running = offered();
    await running.answer({ ...sent('job-1'), isRepeat: true });
    expect([running.posted, running.followed.size]).toEqual([['dispatched'], 1]);
    const over = offered();
    await over.answer({ ...sent('job-1', { state: 'RELEASED' }), isRepeat: true });
    expect([over.posted, over.followed.size]).toEqual([['dispatched'], 0]);
  });

  it('a job that this instance drives is not followed', async () => {
    const { posted, followed, answer } = offered();
    await answer(sent('job-1'));
    expect([posted, followed.size]).toEqual([['dispatched'], 0]);
  });

  it('a refusal after a local record reaches the session', async () => {
    const { posted, admit, answer } = offered();
    admit('job-1');
    await answer(REFUSED);
    expect(posted).toEqual(['admitted', 'dispatched']);
  });
});
