/** A store that loses the newest writes of a room, or all of it, on stepped time: what instances know of the room is written again. */
import { describe, expect, it } from 'vitest';
import type { RoomRecord } from '../../../src/domain/room.ts';
import type { RoomEntry } from '../../../src/domain/room-log.ts';
import { createRoomsRig } from './support/rooms-rig.ts';
import { acceptedBy } from './support/utterances.ts';

const EVERY_ROOM = () => true;

async function startTalk() {
  const rig = createRoomsRig();
  const a = rig.start('a');
  const b = rig.start('b');
  const host = await a.enter('host', 'en');
  const before = (await rig.record()) as RoomRecord;
  const { records, log } = rig.stores;
  const { roomId, tenantId, code } = before;

  /** The store has no record any more. */
  async function lose(): Promise<void> {
    const room = await records.load(roomId);
    if (room !== undefined) await records.save({ ...room, version: room.version + 1 }, 0);
  }

  return {
    ...rig,
    a,
    b,
    host,
    roomId,
    /** The record is again as when only the host was there. */
    async loseNewest(): Promise<void> {
      await lose();
      await records.restore(before, 60_000);
    },
    async loseAll(): Promise<void> {
      await lose();
      await records.unbind({ tenantId, code, roomId }, 0);
      await log.expire(roomId, 0);
      await log.open('another room');
    },
    async reassert(...instances: (typeof a)[]): Promise<void> {
      for (const { rooms } of instances) rooms.reassert(EVERY_ROOM);
      await rig.clock.advance(0);
    },
    members: async () => (await records.load(roomId))?.members.map(({ memberId }) => memberId).sort(),
    seqs: async () => {
      const read = await log.read(roomId, 0, 100);
      return read.kind === 'gone'
        ? []
        : read.lines.flatMap(({ entry }) => (entry.kind === 'accept' ? entry.seq : []));
    },
  };
}

describe('a store that loses entries of the log', () => {
  /** The log has only its first entries; then other entries may come to lie at the same positions. */
  async function loseEntries(
    { roomId, stores: { log } }: Awaited<ReturnType<typeof startTalk>>,
    kept: number,
  ): Promise<void> {
    const read = await log.read(roomId, 0, kept);
    await log.expire(roomId, 0);
    await log.open(roomId);
    if (read.kind === 'read' && kept > 0)
      await log.append(roomId, read.lines.map(({ entry }) => entry) as RoomEntry[]);
  }

  it.each([0, 1, 2])(
    'R5: has them again, if %i are left: members that join later get the captions',
    async (kept) => {
      const talk = await startTalk();
      const { a, b, clock, host } = talk;
      const es = await b.enter('es', 'es');
      await host.say('one');
      await a.recognise('one');
      await a.translate('one', 'es');
      await loseEntries(talk, kept);
      await talk.reassert(a, b);
      const late = await talk.start('c').enter('late', 'es');
      expect(late.captions()).toEqual(['1 <one es>']);
      await host.say('two');
      await a.recognise('two');
      await a.translate('two', 'es');
      await clock.advance(0);
      for (const { captions } of [es, late]) expect(captions()).toEqual(['1 <one es>', '1002 <two es>']);
    },
  );

  it('R1: an utterance that is open goes on, and is shown once', async () => {
    const talk = await startTalk();
    const { a, b, host } = talk;
    const es = await b.enter('es', 'es');
    await host.say('one');
    await loseEntries(talk, 0);
    await talk.reassert(b, a);
    await a.recognise('one');
    await a.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    expect((await talk.start('c').enter('late', 'es')).captions()).toEqual(['1 <one es>']);
  });

  it('R1: an acceptance that no instance had read is written again, and comes before later utterances', async () => {
    const talk = await startTalk();
    const { a, b, clock, host, stores } = talk;
    const es = await b.enter('es', 'es');
    const { read } = stores.log;
    stores.log.read = async () => {
      throw new Error('no answer');
    };
    await host.say('one');
    stores.log.read = read;
    await loseEntries(talk, 0);
    // An instance that has read nothing, and writes before the others.
    await talk.reassert(b);
    await es.say('dos');
    await talk.reassert(a);
    await clock.advance(1_000);
    await a.recognise('one');
    await a.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    expect(await talk.seqs()).toEqual([1_001, 1]);
  });

  it('other entries in their places are read, too', async () => {
    const talk = await startTalk();
    const { a, b, clock, host, roomId, stores } = talk;
    const es = await b.enter('es', 'es');
    await host.say('one');
    await loseEntries(talk, 0);
    await stores.log.open(roomId, { last: 0, seq: 500 });
    await stores.log.accept(roomId, acceptedBy('other', 'other.1', 'es', 'c/1'));
    await stores.log.append(roomId, [{ kind: 'text', seq: 501, text: 'dos', language: 'es', promised: [] }]);
    await talk.reassert(a, b);
    await clock.advance(1_500);
    await a.recognise('one');
    await a.translate('one', 'es');
    expect(es.captions()).toContain('501 dos');
  });

  it('an erasure that was lost with them is made again', async () => {
    const talk = await startTalk();
    const { a, b, clock, host, roomId, stores } = talk;
    await b.enter('es', 'es');
    await host.say('one');
    await a.recognise('one');
    const before = await stores.log.read(roomId, 0, 10);
    await a.rooms.service.eraseSaid('t', { speaker: 'host' });
    await host.say('two');
    await stores.log.expire(roomId, 0);
    await stores.log.open(roomId);
    if (before.kind === 'read')
      await stores.log.append(roomId, before.lines.map(({ entry }) => entry) as RoomEntry[]);
    const isThere = async () => JSON.stringify(await stores.log.read(roomId, 0, 10)).includes('"one"');
    expect(await isThere()).toBe(true);
    await talk.reassert(a, b);
    await clock.advance(0);
    expect(await isThere()).toBe(false);
  });
});

describe('a store that loses a room without members', () => {
  it('has it again from the instance that opened it', async () => {
    const { clock, start, stores } = createRoomsRig();
    const { rooms } = start('a');
    const made = await rooms.service.create({ tenantId: 't', settings: {} });
    if (made.kind !== 'done') throw new Error('no room');
    const { room } = made;
    await stores.records.save({ ...room, version: 2, changeId: 'x' }, 0);
    await stores.records.unbind(room, 0);
    await stores.log.expire(room.roomId, 0);
    rooms.reassert(EVERY_ROOM);
    await clock.advance(0);
    expect(await rooms.service.find('t', room.code)).toMatchObject({ kind: 'done' });
  });
});

const isOut = ({ kind }: { kind: string }) => kind === 'expired';

describe('a store that loses the newest versions of a record', () => {
  it('has them again after the replay, whichever instance is first, and later changes count', async () => {
    for (const isReversed of [false, true]) {
      const talk = await startTalk();
      const { a, b, clock } = talk;
      const es = await b.enter('es', 'es');
      await a.rooms.members.moderate('host', { action: 'lock' });
      await clock.advance(0);
      await talk.loseNewest();
      await talk.reassert(...(isReversed ? [b, a] : [a, b]));
      expect(await talk.members()).toEqual(['es', 'host']);
      expect(await talk.record()).toMatchObject({ isLocked: true });
      await a.rooms.members.moderate('host', { action: 'unlock' });
      const fr = await b.enter('fr', 'fr');
      await clock.advance(1_000);
      expect(await talk.members()).toEqual(['es', 'fr', 'host']);
      for (const { rooms } of [a, b]) expect(rooms.counts()).toMatchObject({ rooms: 1 });
      await talk.host.say('one');
      await a.recognise('one');
      await a.translate('one', 'es');
      await a.translate('one', 'fr');
      expect([es.captions(), fr.captions()]).toEqual([['1001 <one es>'], ['1001 <one fr>']]);
    }
  });

  it('a change that another instance saved over the loss takes no member of a connection away', async () => {
    const talk = await startTalk();
    const { a, b, clock } = talk;
    const es = await b.enter('es', 'es');
    await talk.loseNewest();
    // No instance has noticed the failover yet. The version of this join is the one that was lost.
    const c = talk.start('c');
    const fr = await c.enter('fr', 'fr');
    await talk.reassert(b);
    await clock.advance(2_000);
    expect(await talk.members()).toEqual(['es', 'fr', 'host']);
    await talk.loseNewest();
    // Now other changes come before the replay, up to versions that are higher than the lost ones.
    for (let count = 0; count < 2_100; count += 1)
      await a.rooms.members.moderate('host', { action: count % 2 === 0 ? 'lock' : 'unlock' });
    await clock.advance(2_000);
    expect(await talk.members()).toEqual(['es', 'fr', 'host']);
    for (const { got } of [es, fr]) expect(got.some(isOut)).toBe(false);
  });

  it('a member that was removed, or has left, does not come back', async () => {
    const talk = await startTalk();
    const { a, b, clock } = talk;
    const es = await b.enter('es', 'es');
    await b.enter('fr', 'fr');
    await a.rooms.members.moderate('host', { action: 'remove', memberId: 'es' });
    await clock.advance(0);
    await talk.loseNewest();
    await talk.reassert(b, a);
    await clock.advance(2_000);
    expect(await talk.members()).toEqual(['fr', 'host']);
    expect(es.got.at(-1)).toMatchObject({ kind: 'notice', notice: { code: 'removed' } });
  });

  it('a store that has lost nothing keeps its version', async () => {
    const talk = await startTalk();
    const version = (await talk.record())?.version;
    await talk.reassert(talk.a);
    expect((await talk.record())?.version).toBe(version);
  });
});

describe('a store that loses a whole room', () => {
  it('has its record, its code and its numbers again: members stay, a join works, none is given out twice', async () => {
    const talk = await startTalk();
    const { a, b, clock, host } = talk;
    const es = await b.enter('es', 'es');
    await host.say('one');
    expect(await talk.seqs()).toEqual([1]);
    await talk.loseAll();
    await talk.reassert(b, a);
    const fr = await b.enter('fr', 'fr');
    expect(fr.refused).toBeUndefined();
    await host.say('two');
    await es.say('tres');
    expect(await talk.seqs()).toEqual([1, 1_002, 1_003]);
    await clock.advance(2_000);
    expect(await talk.members()).toEqual(['es', 'fr', 'host']);
    // Again, before this instance has read what was given out since.
    await talk.loseAll();
    await talk.reassert(a, b);
    await es.say('cuatro');
    expect(await talk.seqs()).toEqual([1, 1_002, 1_003, 2_004]);
  });

  it('does not end it while instances may still write it again, and ends it when none does', async () => {
    const talk = await startTalk();
    const { a, b, clock, host } = talk;
    await b.enter('es', 'es');
    await talk.loseAll();
    void b.rooms.receive({ kind: 'advanced', roomId: talk.roomId, last: 9, version: 99 });
    const announced = a.rooms.receive({ kind: 'advanced', roomId: talk.roomId, last: 9, version: 99 });
    await clock.advance(2_000);
    expect(host.got.some(isOut)).toBe(false);
    await clock.advance(1_500);
    await announced;
    expect(host.got.filter(isOut)).toHaveLength(1);
  });

  it('a change waits for the replay, and is refused while the store does not answer', async () => {
    const talk = await startTalk();
    const { a, clock, stores } = talk;
    await talk.loseAll();
    const { load } = stores.records;
    stores.records.load = async () => {
      throw new Error('no answer');
    };
    await talk.reassert(a);
    expect(await a.rooms.members.moderate('host', { action: 'lock' })).toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
    });
    stores.records.load = load;
    expect(await a.rooms.members.moderate('host', { action: 'lock' })).toBeUndefined();
    expect(await talk.record()).toMatchObject({ isLocked: true, version: expect.any(Number) });
    await clock.advance(1_000);
    expect(await talk.members()).toEqual(['host']);
  });
});
