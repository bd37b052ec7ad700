/** A session that is fetched from elsewhere while others come for it, too. */
import { expect, it } from 'vitest';
import {
  createSessionFetcher,
  type SessionFetcher,
} from '../../src/session/handover/resume-from-elsewhere.ts';
import { createManualClock } from '../support/manual-clock.ts';

type Deps = Parameters<typeof createSessionFetcher>[0];

/** What the store answers to whoever takes the session, one after the other; then always the last of it. */
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
  const arrivals = createSessionFetcher({
    elsewhere,
    ids: { digest: (text) => `digest of ${text}` },
    clock: createManualClock(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return () => arrivals.fetch({ sessionId: 'session', token: 'token' }, 'tenant');
}

it('a session that somebody else took first is taken from that one', async () => {
  expect(await createFetch(['lost', 'taken'])()).toMatchObject({ kind: 'fetched', isComplete: true });
});

it('a session that others go on taking is unavailable, not gone: its client would be given another', async () => {
  expect(await createFetch(['lost'])()).toEqual({ kind: 'unavailable' });
});

it('a session that is no more is gone', async () => {
  expect(await createFetch(['none'])()).toEqual({ kind: 'none' });
});
