/** Who waits for a job, when the answer to its request comes after the utterance has its outcome or is nobody's any more. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { DispatchOutcome, DispatchRequest } from '../../src/domain/dispatch.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import { createJobWatch } from '../../src/session/job-watch.ts';
import type { Session, Utterance } from '../../src/session/session.ts';
import { settled } from './scripted-desk.ts';

const SESSION = { isShared: false } as Session;
const recordOf = (jobId: string): JobRecord => ({ jobId, state: 'DISPATCHED' }) as JobRecord;

/** One utterance that was asked for, and whose answer is in the hands of the test. */
function asked() {
  const utterance = {
    jobId: 'job-1',
    isSettled: false,
    isAbandoned: false,
    isHandedOver: false,
  } as Utterance;
  const cancelled: string[] = [];
  const followed = new Set<Utterance>();
  let request: DispatchRequest | undefined;
  let answer: (outcome: DispatchOutcome) => void = () => {};
  const watch = createJobWatch({
    jobs: { cancel: async (jobId) => void cancelled.push(jobId) },
    desk: {
      ask(_, given) {
        request = given;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      stop() {},
    },
    asked: new Set(),
    elsewhere: {
      follow: (one) => void followed.add(one),
      stop: (one) => void followed.delete(one),
      stopAll() {},
    },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    post() {},
  });
  watch.dispatch(SESSION, utterance, {} as DispatchRequest);
  return {
    watch,
    utterance,
    cancelled,
    followed,
    admit: (jobId: string) => request?.admitted?.(recordOf(jobId)),
    async answer(jobId: string, isRepeat = false) {
      answer({ kind: 'dispatched', job: recordOf(jobId), isRepeat });
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
    await one.answer('job-2');
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
  await answer(jobId, isRepeat);
  expect([cancelled, followed.size, watch.size()]).toEqual([[], 0, 0]);
});

it('a job is not followed any more when nobody waits for it', async () => {
  const { watch, utterance, followed, answer } = asked();
  await answer('job-1', true);
  expect(followed.size).toBe(1);
  watch.forget(utterance);
  expect(followed.size).toBe(0);
});
