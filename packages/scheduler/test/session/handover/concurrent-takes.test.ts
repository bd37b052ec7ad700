/** A session that is fetched while other instances take it, too. */
import { expect, it } from 'vitest';
import {
  createSessionFetcher,
  type SessionFetcher,
} from '../../../src/session/handover/resume-from-elsewhere.ts';
import { createManualClock } from '../../support/manual-clock.ts';

type Deps = Parameters<typeof createSessionFetcher>[0];

/** `answers`: the results of successive `take` calls; the last one repeats. */
function createFetch(answers: readonly string[]): () => ReturnType<SessionFetcher['fetch']> {
  let takes = 0;
  const state = { tenantId: 'tenant', resumeDigest: 'digest of token' };
  const elsewhere = {
    store: {
      load: async () => ({ owner: 'other/1', state }),
      take: async () => ({ kind: answers[Math.min(takes++, answers.length - 1)], state }),
    },
    owner: () => 'self/1',
    release: async () => true,
    records: {},
  } as unknown as Deps['elsewhere'];
  const fetcher = createSessionFetcher({
    elsewhere,
    ids: { digest: (text) => `digest of ${text}` },
    clock: createManualClock(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return () => fetcher.fetch({ sessionId: 'session', token: 'token' }, 'tenant');
}

it('a session that another instance took first is taken from it', async () => {
  expect(await createFetch(['lost', 'taken'])()).toMatchObject({ kind: 'fetched', isComplete: true });
});

it('a session that other instances keep taking is unavailable, not gone', async () => {
  expect(await createFetch(['lost'])()).toEqual({ kind: 'unavailable' });
});

it('a session without a saved state is not resumed', async () => {
  expect(await createFetch(['none'])()).toEqual({ kind: 'none' });
});
