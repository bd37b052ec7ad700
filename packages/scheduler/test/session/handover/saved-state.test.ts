/** The saved state of a session, and the session rebuilt from it. Pure. */
import { describe, expect, it } from 'vitest';
import type { SavedSession } from '../../../src/ports/session-store.ts';
import { noteChange, rebuild, savedOf } from '../../../src/session/handover/saved-state.ts';
import { opening } from '../support/session-rig.ts';

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

describe('a rebuilt session', () => {
  it('a rebuilt session has the saved state with a later revision', () => {
    const { revision, utterances, ...rest } = savedOf(again(SAVED));
    expect(plain({ ...rest, revision: 7 })).toEqual(plain({ ...SAVED, utterances: undefined }));
    expect(revision).toBeGreaterThan(100);
    expect(plain(utterances)).toEqual(
      plain(SAVED.utterances.map((one) => (one.index === 1 ? { ...one, settled: undefined } : one))),
    );
  });

  it('a rebuilt session waits for all unacknowledged utterances', () => {
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

  it('a rebuilt session reuses no index and no turn', () => {
    const session = again(SAVED, { at: 0, skipped: 10 });
    expect(session.nextIndex).toBe(13);
    expect(session.segmentation.turn).toBeGreaterThanOrEqual(3);
    expect([session.lastSeq, session.sealedSeq]).toEqual([29, 29]);
  });

  it('an unknown missing reason counts as job_failed', () => {
    const session = again({ ...SAVED, utterances: [utterance(0, { settled: { missing: 'of tomorrow' } })] });
    expect(session.delivery.waiting[0]?.outcome).toEqual({ kind: 'missing', reason: 'job_failed' });
  });
});

it('a less urgent change does not delay an urgent one', () => {
  const session = again(SAVED);
  noteChange(session, 'soon');
  expect(session.unsaved).toBe('soon');
  noteChange(session, 'now');
  noteChange(session, 'soon');
  expect(session.unsaved).toBe('now');
});
