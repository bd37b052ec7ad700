/** Contract of RoomRecords: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { RoomRecord } from '../../src/domain/room.ts';
import type { RoomFollowers } from '../../src/ports/room-followers.ts';
import type { RoomName, RoomRecords } from '../../src/ports/room-records.ts';
import { type Closable, fresh, perTest, type Timed, times } from './harness.ts';

export interface RoomRecordsHarness extends Timed, Closable {
  readonly records: RoomRecords;
  readonly followers: RoomFollowers;
}

const LONG_MS = 60_000;
const SHORT_MS = 50;
const MANY = 100;

export const roomOf = (parts: Partial<RoomRecord> = {}): RoomRecord => ({
  roomId: fresh('r'),
  tenantId: 'tenant-ä',
  code: 'abc-def',
  version: 1,
  changeId: 'c1',
  createdAt: 1_700_000_000_000,
  title: 'Ein "Raum" 😀',
  isRecorded: false,
  isLocked: false,
  fixedLanguages: ['de'],
  members: [
    {
      memberId: 's-1',
      name: 'Ana',
      role: 'host',
      speaks: 'es',
      hears: { language: 'de', isCaptionWanted: true, isVoiceWanted: false, original: 'duck' },
      isMuted: false,
      isLegacy: false,
      follower: 'a/1',
      joinId: 'j1',
      joinedAt: 1_700_000_000_000,
      joinNumber: 1,
    },
  ],
  joins: 1,
  audiences: { 'a/1': { fr: { captions: 2, voices: 1 } } },
  silentPairs: [],
  removed: [],
  activeAt: 1_700_000_000_000,
  ...parts,
});

/** Whether a field is absent or undefined makes no difference. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

export function roomRecordsContract(name: string, open: () => Promise<RoomRecordsHarness>): void {
  describe(`RoomRecords: ${name}`, () => {
    const start = perTest(open);

    it('returns what was saved', async () => {
      const { records } = await start();
      const room = roomOf();
      expect(await records.save(room, LONG_MS)).toMatchObject({ kind: 'saved' });
      expect(plain(await records.load(room.roomId))).toEqual(plain(room));
      expect(await records.load(fresh('r'))).toBeUndefined();
    });

    it('saves only over the version before, and returns the stored one otherwise', async () => {
      const { records } = await start();
      const room = roomOf();
      await records.save(room, LONG_MS);
      const next = { ...room, version: 2, changeId: 'c2', isLocked: true };
      expect(await records.save(next, LONG_MS)).toMatchObject({ kind: 'saved' });
      const other = { ...room, version: 2, changeId: 'c3', title: 'other' };
      const stale = await records.save(other, LONG_MS);
      expect(plain(stale)).toEqual(plain({ kind: 'stale', record: next }));
      expect(plain(await records.load(room.roomId))).toEqual(plain(next));
      const lost = roomOf({ version: 2 });
      expect(await records.save(lost, LONG_MS)).toEqual({ kind: 'stale', record: undefined });
    });

    it('recognises a repeated save', async () => {
      const { records } = await start();
      const room = roomOf();
      await records.save(room, LONG_MS);
      expect(await records.save(room, LONG_MS)).toMatchObject({ kind: 'saved' });
      const twin = { ...room, changeId: 'c9' };
      expect(await records.save(twin, LONG_MS)).toMatchObject({ kind: 'stale' });
    });

    it('restores a record over a lower version and over none, and never over its own or a higher one', async () => {
      const { records, followers } = await start();
      const room = roomOf({ version: 7 });
      await followers.add(room.roomId, 'a/1');
      expect(await records.restore(room, LONG_MS)).toEqual({ kind: 'saved', followers: ['a/1'] });
      expect(plain(await records.load(room.roomId))).toEqual(plain(room));
      for (const version of [7, 6]) {
        const other = { ...room, version, changeId: 'c9', title: 'other' };
        expect(plain(await records.restore(other, LONG_MS))).toEqual(plain({ kind: 'stale', record: room }));
      }
      const higher = { ...room, version: 1_010, changeId: 'c2', isLocked: true };
      expect(await records.restore(higher, LONG_MS)).toMatchObject({ kind: 'saved' });
      expect(plain(await records.restore(higher, LONG_MS))).toEqual(plain({ kind: 'stale', record: higher }));
      const next = { ...higher, version: 1_011, changeId: 'c3' };
      expect(await records.save(next, LONG_MS)).toMatchObject({ kind: 'saved' });
      expect(plain(await records.load(room.roomId))).toEqual(plain(next));
    });

    it('lets one of several concurrent changes win', async () => {
      const { records } = await start();
      const room = roomOf();
      await records.save(room, LONG_MS);
      const saves = await Promise.all(
        times(5, (at) => records.save({ ...room, version: 2, changeId: `c${at}` }, LONG_MS)),
      );
      expect(saves.filter(({ kind }) => kind === 'saved')).toHaveLength(1);
    });

    it('names the followers with each save', async () => {
      const { records, followers } = await start();
      const room = roomOf();
      await followers.add(room.roomId, 'a/1');
      await followers.add(room.roomId, 'b/1');
      const saved = await records.save(room, LONG_MS);
      expect(saved.kind === 'saved' && [...saved.followers].sort()).toEqual(['a/1', 'b/1']);
    });

    it('forgets a record that is not saved any more', async () => {
      const { records, advance } = await start();
      const room = roomOf();
      const restored = roomOf({ version: 3 });
      await records.save(room, SHORT_MS);
      await records.restore(restored, SHORT_MS);
      await advance(2 * SHORT_MS);
      for (const { roomId } of [room, restored]) expect(await records.load(roomId)).toBeUndefined();
    });

    it('R6 binds a code to one room of its tenant', async () => {
      const { records } = await start();
      const [tenantId, other, code] = [fresh('t'), fresh('t'), '123456'];
      const name = { tenantId, code, roomId: fresh('r') };
      expect(await records.bind(name, LONG_MS, MANY)).toBe('bound');
      expect(await records.bind(name, LONG_MS, MANY)).toBe('bound');
      expect(await records.bind({ ...name, roomId: fresh('r') }, LONG_MS, MANY)).toBe('taken');
      expect(await records.find(tenantId, code)).toBe(name.roomId);
      expect(await records.find(other, code)).toBeUndefined();
      expect(await records.list(tenantId)).toEqual([name]);
      expect(await records.list(other)).toEqual([]);
      await records.unbind({ ...name, roomId: fresh('r') }, 0);
      expect(await records.find(tenantId, code)).toBe(name.roomId);
      await records.unbind(name, 0);
      expect(await records.find(tenantId, code)).toBeUndefined();
    });

    it('names rooms that have ended while their logs are kept', async () => {
      const { records } = await start();
      const [tenantId, other] = [fresh('t'), fresh('t')];
      const names = times(3, (at) => ({ tenantId, code: `code-${at}`, roomId: fresh('r') }));
      const [one, two, three] = names as [RoomName, RoomName, RoomName];
      for (const name of names) await records.bind(name, LONG_MS, 9);
      await records.unbind(one, LONG_MS);
      await records.unbind(one, LONG_MS);
      await records.unbind(two, 0);
      await records.unbind({ ...three, code: 'of-another' }, LONG_MS);
      expect([...(await records.ended(tenantId))].sort()).toEqual([one.roomId, three.roomId].sort());
      expect(await records.ended(other)).toEqual([]);
    });

    it('binds no more codes than a tenant may have', async () => {
      const { records } = await start();
      const tenantId = fresh('t');
      const names = times(3, (at) => ({ tenantId, code: `code-${at}`, roomId: fresh('r') }));
      const bound = [];
      for (const name of names) bound.push(await records.bind(name, LONG_MS, 2));
      expect(bound).toEqual(['bound', 'bound', 'full']);
      expect(await records.bind(names[0] as (typeof names)[0], LONG_MS, 2)).toBe('bound');
      await records.unbind(names[1] as (typeof names)[0], 0);
      expect(await records.bind(names[2] as (typeof names)[0], LONG_MS, 2)).toBe('bound');
    });

    it('frees a code that is not renewed, for the tenant and its limit', async () => {
      const { records, advance } = await start();
      const tenantId = fresh('t');
      const name = { tenantId, code: 'code', roomId: fresh('r') };
      await records.bind(name, SHORT_MS, 1);
      await advance(2 * SHORT_MS);
      expect(await records.find(tenantId, 'code')).toBeUndefined();
      expect(await records.list(tenantId)).toEqual([]);
      expect(await records.bind({ ...name, roomId: fresh('r') }, LONG_MS, 1)).toBe('bound');
    });
  });
}
