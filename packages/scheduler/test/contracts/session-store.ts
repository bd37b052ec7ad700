/** Contract of SessionStore: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { SavedSession, SavedUtterance, SessionStore } from '../../src/ports/session-store.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed, times } from './harness.ts';

export interface SessionStoreHarness extends Timed, Closable {
  readonly store: SessionStore;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;
const [A, B, C] = ['a/1', 'b/1', 'c/1'];

const spoken = (index: number, parts: Partial<SavedUtterance> = {}): SavedUtterance => ({
  index,
  jobId: `job-${index}`,
  traceId: `trace-${index}`,
  requestId: `req-${index}`,
  groupId: `g${index}`,
  partIndex: 0,
  firstSeq: 10 * index,
  lastSeq: 10 * index + 9,
  acceptedAt: 1_700_000_000_000 + index,
  ...parts,
});

const make = (parts: Partial<SavedSession> = {}): SavedSession => ({
  sessionId: fresh('s'),
  revision: 1,
  tenantId: 'tenant-ä',
  resumeDigest: 'digest',
  openedAt: 1_700_000_000_000,
  nextIndex: 3,
  lastSeq: 29,
  deliverySeq: 4,
  utterances: [
    spoken(0, { settled: { missing: 'gap_timeout' } }),
    spoken(1, { settled: {} }),
    spoken(2, { requestId: undefined }),
  ],
  groups: [{ groupId: 'g2', parts: 1, context: 'was "gesagt" 😀', playedAt: 5 }],
  ...parts,
});

/** Whether a field is absent or undefined makes no difference. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

export function sessionStoreContract(name: string, open: () => Promise<SessionStoreHarness>): void {
  describe(`SessionStore: ${name}`, () => {
    const start = perTest(open);
    const loaded = async (store: SessionStore, { sessionId }: SavedSession) =>
      plain((await store.load(sessionId)) ?? null);

    it('returns the saved state and its owner', async () => {
      const { store } = await start();
      const [one, other] = [make(), make({ lastSeq: -1, utterances: [], groups: [] })];
      expect(await store.save(one, A, LONG_MS)).toBe('saved');
      expect(await store.save(other, B, LONG_MS)).toBe('saved');
      expect(await loaded(store, one)).toEqual(plain({ owner: A, state: one }));
      expect(await loaded(store, other)).toEqual(plain({ owner: B, state: other }));
      expect(await store.load(fresh('s'))).toBeUndefined();
    });

    it('keeps the last save, unaffected by later changes of the object', async () => {
      const { store } = await start();
      const groups = [{ groupId: 'g', parts: 1, context: '' }];
      const one = make({ groups });
      await store.save(one, A, LONG_MS);
      groups.push({ groupId: 'h', parts: 1, context: '' });
      expect((await store.load(one.sessionId))?.state.groups).toHaveLength(1);
      const later = { ...one, revision: 2, nextIndex: 9 };
      await store.save(later, A, LONG_MS);
      expect(await loaded(store, one)).toEqual(plain({ owner: A, state: later }));
    });

    it('ignores an earlier save that arrives late', async () => {
      const { store } = await start();
      const one = make({ revision: 10 });
      await store.save(one, A, LONG_MS);
      expect(await store.save({ ...one, revision: 9, nextIndex: 1 }, A, LONG_MS)).toBe('saved');
      expect(await store.save({ ...one, revision: 2, nextIndex: 1 }, A, LONG_MS)).toBe('saved');
      expect(await loaded(store, one)).toEqual(plain({ owner: A, state: one }));
    });

    it('lets only the owner write, renew or remove', async () => {
      const { store } = await start();
      const one = make();
      await store.save(one, A, LONG_MS);
      expect(await store.save({ ...one, revision: 2 }, B, LONG_MS)).toBe('lost');
      expect(await store.save({ ...one, revision: 2 }, 'a/2', LONG_MS)).toBe('lost');
      expect(await store.touch([one], B, LONG_MS)).toEqual({ lost: [one.sessionId], stale: [] });
      expect(await store.remove(one.sessionId, B)).toBe('lost');
      expect(await loaded(store, one)).toEqual(plain({ owner: A, state: one }));
    });

    it('moves a session with its last state; the former owner gets lost', async () => {
      const { store } = await start();
      const one = make();
      await store.save(one, A, LONG_MS);
      const later = { ...one, revision: 2, nextIndex: 7 };
      await store.save(later, A, LONG_MS);
      expect(plain(await store.take(one.sessionId, B, A, LONG_MS))).toEqual(
        plain({ kind: 'taken', state: later }),
      );
      expect(await store.save({ ...one, revision: 3 }, A, LONG_MS)).toBe('lost');
      expect(await store.remove(one.sessionId, A)).toBe('lost');
      expect(await store.save({ ...one, revision: 3 }, B, LONG_MS)).toBe('saved');
    });

    it('repeats a takeover of the same owner, and refuses an outdated one', async () => {
      const { store } = await start();
      const one = make();
      await store.save(one, A, LONG_MS);
      expect(await store.take(one.sessionId, C, B, LONG_MS)).toEqual({ kind: 'lost' });
      expect((await store.take(one.sessionId, B, A, LONG_MS)).kind).toBe('taken');
      expect((await store.take(one.sessionId, B, A, LONG_MS)).kind).toBe('taken');
      expect(await store.take(one.sessionId, C, A, LONG_MS)).toEqual({ kind: 'lost' });
      expect(await store.take(fresh('s'), B, A, LONG_MS)).toEqual({ kind: 'absent' });
    });

    it('gives a session to one of many concurrent takers', async () => {
      const { store } = await start();
      const one = make();
      await store.save(one, A, LONG_MS);
      const takers = times(20, (index) => `taker-${index}/1`);
      const results = await Promise.all(takers.map((taker) => store.take(one.sessionId, taker, A, LONG_MS)));
      const winners = takers.filter((_, at) => results[at]?.kind === 'taken');
      expect(winners).toHaveLength(1);
      expect((await store.load(one.sessionId))?.owner).toBe(winners[0]);
    });

    it('keeps nothing beyond its time', async () => {
      const { store, ...timed } = await start();
      const [saved, taken, touched] = [make(), make(), make()];
      for (const one of [saved, taken, touched]) await store.save(one, A, one === saved ? SHORT_MS : LONG_MS);
      await store.take(taken.sessionId, B, A, SHORT_MS);
      await store.touch([touched], A, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      for (const one of [saved, taken, touched]) expect(await store.load(one.sessionId)).toBeUndefined();
      expect(await store.take(saved.sessionId, B, A, LONG_MS)).toEqual({ kind: 'absent' });
    });

    it('counts the time from the last save, take or touch', async () => {
      const { store, ...timed } = await start();
      const [saved, taken, touched] = [make(), make(), make()];
      for (const one of [saved, taken, touched]) await store.save(one, A, SHORT_MS);
      await store.save({ ...saved, revision: 2 }, A, LONG_MS);
      await store.take(taken.sessionId, B, A, LONG_MS);
      await store.touch([touched], A, LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      for (const [one, owner] of [
        [saved, A],
        [taken, B],
        [touched, A],
      ] as const)
        expect(await store.load(one.sessionId)).toMatchObject({ owner });
    });

    it('reports which of many are lost and which must be saved again', async () => {
      const { store } = await start();
      const own = times(30, () => make({ revision: 5 }));
      const [others, behind, gone] = [make(), make({ revision: 3 }), make()];
      await Promise.all([...own, behind].map((one) => store.save(one, A, LONG_MS)));
      await store.save(others, B, LONG_MS);
      const sessions = [...own, { ...others, revision: 9 }, { ...behind, revision: 4 }, gone];
      const { lost, stale } = await store.touch(sessions, A, LONG_MS);
      expect(lost).toEqual([others.sessionId]);
      expect([...stale].sort()).toEqual([behind.sessionId, gone.sessionId].sort());
      expect(await store.load(gone.sessionId)).toBeUndefined();
      expect(await store.touch([], A, LONG_MS)).toEqual({ lost: [], stale: [] });
    });

    it('removes an ended session, and a later save is the first', async () => {
      const { store } = await start();
      const one = make({ revision: 8 });
      await store.save(one, A, LONG_MS);
      expect(await store.remove(one.sessionId, A)).toBe('removed');
      expect(await store.remove(one.sessionId, A)).toBe('removed');
      expect(await store.load(one.sessionId)).toBeUndefined();
      expect(await store.save({ ...one, revision: 2 }, B, LONG_MS)).toBe('saved');
      expect(await store.load(one.sessionId)).toMatchObject({ owner: B, state: { revision: 2 } });
    });
  });
}
