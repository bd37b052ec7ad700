/** A session as others find it, and as it is made again: pure. */
import { describe, expect, it } from 'vitest';
import type { SavedSession } from '../../src/ports/session-store.ts';
import { noteChange, rebuild, savedOf } from '../../src/session/handover/saved-state.ts';
import { opening } from './session-rig.ts';

const utterance = (index: number, more: object = {}) => ({
  index,
  jobId: `job-${index}`,
  traceId: `trace-${index}`,
  requestId: `req-${index}`,
  groupId: `g${index}`,
  partIndex: 0,
  firstSeq: 10 * index,
  lastSeq: 10 * index + 9,
  acceptedAt: 100 + index,
  ...more,
});

const SAVED: SavedSession = {
  sessionId: 's-1',
  revision: 7,
  tenantId: 'acme',
  resumeDigest: 'digest',
  openedAt: 50,
  nextIndex: 3,
  lastSeq: 29,
  deliverySeq: 4,
  utterances: [
    utterance(0, { settled: { missing: 'gap_timeout' } }),
    utterance(1, { settled: {} }),
    utterance(2, { firstSeq: undefined, lastSeq: undefined }),
  ],
  groups: [{ groupId: 'g2', parts: 2, context: 'before', playedAt: 90 }],
};

const GIVEN = { at: 1_000, skipped: 0 };
const again = (saved: SavedSession, given = GIVEN) => rebuild(saved, opening({ tenantId: 'acme' }), given);
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('a session that is made again', () => {
  it('would be saved as it was, but for a later revision and results that must be read first', () => {
    const { revision, utterances, ...rest } = savedOf(again(SAVED));
    expect(plain({ ...rest, revision: 7 })).toEqual(plain({ ...SAVED, utterances: undefined }));
    expect(revision).toBeGreaterThan(100);
    expect(plain(utterances)).toEqual(
      plain(SAVED.utterances.map((one) => (one.index === 1 ? { ...one, settled: undefined } : one))),
    );
  });

  it('waits for all that is not acknowledged, and counts what has no word yet', () => {
    const session = again(SAVED);
    expect(session.delivery.waiting.map(({ index, isSettled }) => [index, isSettled])).toEqual([
      [0, true],
      [1, false],
      [2, false],
    ]);
    expect(session.delivery.waiting[0]?.outcome).toEqual({ kind: 'missing', reason: 'gap_timeout' });
    expect([session.running, session.unplaced]).toEqual([2, 0]);
    expect([...session.requests.keys()]).toEqual(['req-2']);
  });

  it('uses no number and no turn that was used before', () => {
    const session = again(SAVED, { at: 0, skipped: 10 });
    expect(session.nextIndex).toBe(13);
    expect(session.segmentation.turn).toBeGreaterThanOrEqual(3);
    expect([session.lastSeq, session.sealedSeq]).toEqual([29, 29]);
  });

  it('takes a reason that it does not know for a failure', () => {
    const session = again({ ...SAVED, utterances: [utterance(0, { settled: { missing: 'of tomorrow' } })] });
    expect(session.delivery.waiting[0]?.outcome).toEqual({ kind: 'missing', reason: 'job_failed' });
  });
});

it('what hurries is not made to wait by what does not', () => {
  const session = again(SAVED);
  noteChange(session, 'soon');
  expect(session.unsaved).toBe('soon');
  noteChange(session, 'now');
  noteChange(session, 'soon');
  expect(session.unsaved).toBe('now');
});
