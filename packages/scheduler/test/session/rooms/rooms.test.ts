/** Rooms on stepped time: demand, absence, the end, and the death of an instance. */
import { describe, expect, it } from 'vitest';
import type { RoomOutput } from '../../../src/session/rooms/room-output.ts';
import { createRoomsRig, startTalk } from './support/rooms-rig.ts';

describe('demand', () => {
  it('R3: a language that is unheard for 3 s is void; its jobs are cancelled, the others go on', async () => {
    const { a, clock, host, es, fr, stores, record } = await startTalk();
    await host.say('one');
    await a.recognise('one');
    const { plans } = a.plans;
    expect(plans.at(-1)?.request.wanted.map(({ language }) => language)).toEqual(['es', 'fr']);
    await fr.leave();
    await clock.advance(2_900);
    expect(plans.at(-1)?.cancelled).toEqual([]);
    await clock.advance(2_200);
    expect(plans.at(-1)?.cancelled).toEqual(['JOB_CANCELLED fr/text', 'JOB_CANCELLED fr/voice']);
    await a.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    const read = await stores.log.read((await record())?.roomId ?? '', 0, 100);
    expect(JSON.stringify(read)).toContain('"void"');
  });

  it('R3: a member that is away is still heard for, until the time to resume is over', async () => {
    const { a, clock, host, es } = await startTalk();
    await es.disconnect();
    await host.say('one');
    await a.recognise('one');
    expect(a.plans.plans.at(-1)?.request.wanted.map(({ language }) => language)).toEqual(['es', 'fr']);
    await clock.advance(12_000);
    await host.say('two');
    await a.recognise('two');
    expect(a.plans.plans.at(-1)?.request.wanted.map(({ language }) => language)).toEqual(['fr']);
  });

  it('an interpreter’s language is not translated by machine for 10 s', async () => {
    const { a, b, clock, host, es, fr } = await startTalk();
    const interpreter = await a.enter('interpreter', 'en', {
      role: 'interpreter',
      channel: 'es',
      speaks: 'es',
      grant: { roomId: 'x', role: 'interpreter' },
    });
    expect(interpreter.refused).toMatchObject({ code: 'ROOM_NOT_FOUND' });
    const members = a.rooms.members;
    await members.moderate('host', { action: 'role', memberId: 'es', role: 'interpreter' });
    await members.moderate('host', { action: 'role', memberId: 'fr', role: 'speaker' });
    await clock.advance(0);
    expect(b.rooms.voiceOf('es')).toMatchObject({ kind: 'speaks', language: 'es' });
    await es.say('hola');
    expect(fr.captions()).toEqual([]);
    await host.say('one');
    await a.recognise('one');
    expect(a.plans.plans.at(-1)?.request.wanted.map(({ language }) => language)).toEqual(['fr']);
    await clock.advance(11_000);
    await host.say('two');
    await a.recognise('two');
    expect(a.plans.plans.at(-1)?.request.wanted.map(({ language }) => language)).toEqual(['es', 'fr']);
  });
});

describe('limits', () => {
  it('a speaker with two open utterances here must pause; the fifth is refused, until one has its outcomes', async () => {
    const { a, host } = await startTalk();
    await host.say('one');
    expect(a.rooms.voiceOf('host')).toMatchObject({ isFull: false });
    await host.say('two');
    expect(a.rooms.voiceOf('host')).toMatchObject({ isFull: true });
    for (const text of ['three', 'four', 'five']) await host.say(text);
    expect(host.settled).toEqual(['RATE_LIMITED']);
    await a.recognise('one');
    await a.translate('one', 'es');
    await a.translate('one', 'fr');
    await host.say('six');
    expect(host.settled).toEqual(['RATE_LIMITED']);
  });

  it('codes of six digits are refused unless an operator allows them', async () => {
    const { rooms } = createRoomsRig().start('a');
    const refused = await rooms.service.create({ tenantId: 't', settings: {}, hasDigitCode: true });
    expect(refused).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('rooms.legacy_codes'),
    });
  });

  it('a guest of another room cannot tell its code from a wrong one, and both count as guesses', async () => {
    const { rooms } = createRoomsRig().start('a');
    const made = await rooms.service.create({ tenantId: 't', settings: {} });
    const right = made.kind === 'done' ? made.room.code : '';
    const join = (code: string, roomId?: string) => {
      const by = { sessionId: 's', tenantId: 't', address: 'x', isLegacy: false, source: 'en', target: 'en' };
      const grant = roomId === undefined ? undefined : ({ roomId, role: 'listener' } as const);
      return rooms.members.join(by, { code, grant }, { sendRoom() {} });
    };
    const wrong = await join('wrong', 'other');
    expect(wrong).toMatchObject({ code: 'ROOM_NOT_FOUND' });
    for (let tries = 0; tries < 4; tries += 1) expect(await join(right, 'other')).toEqual(wrong);
    expect(await join(right)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('R6 codes that are tried at once are counted one after the other, and also by those who read rooms', async () => {
    const { rooms } = createRoomsRig().start('a');
    const made = await rooms.service.create({ tenantId: 't', settings: {} });
    const { code = '', roomId = '' } = made.kind === 'done' ? made.room : {};
    const find = (name: string, address?: string) => rooms.service.find('t', name, address);
    const got = await Promise.all(Array.from({ length: 8 }, (_, at) => find(`guess-${at}`, 'x')));
    expect(got.map((answer) => 'code' in answer && answer.code)).toEqual([
      ...Array.from({ length: 5 }, () => 'ROOM_NOT_FOUND'),
      ...Array.from({ length: 3 }, () => 'RATE_LIMITED'),
    ]);
    expect(await find(code, 'x')).toMatchObject({ code: 'RATE_LIMITED' });
    // Right names do not count, nor do those of a server.
    for (let count = 0; count < 8; count += 1)
      expect(await find(roomId, 'y')).toMatchObject({ kind: 'done' });
    for (let count = 0; count < 8; count += 1)
      expect(await find('wrong')).toMatchObject({ code: 'ROOM_NOT_FOUND' });
    expect(await find(code)).toMatchObject({ kind: 'done' });
  });

  it('a tenant has no more rooms than it may, and R6: another tenant does not see them', async () => {
    const { rooms } = createRoomsRig().start('a');
    const order = { tenantId: 't', settings: {} };
    for (let count = 0; count < 3; count += 1)
      expect(await rooms.service.create(order)).toMatchObject({ kind: 'done' });
    expect(await rooms.service.create(order)).toMatchObject({ code: 'ROOM_FULL' });
    const mine = await rooms.service.list('t');
    const [room] = mine.kind === 'done' ? mine.rooms : [];
    expect(await rooms.service.find('t', room?.code ?? '')).toMatchObject({ kind: 'done' });
    for (const name of [room?.code ?? '', room?.roomId ?? ''])
      expect(await rooms.service.find('other', name)).toMatchObject({ code: 'ROOM_NOT_FOUND' });
    expect(await rooms.service.end('other', room?.roomId ?? '')).toMatchObject({ code: 'ROOM_NOT_FOUND' });
  });
});

describe('who speaks', () => {
  const shown = ({ got }: { got: readonly RoomOutput[] }) =>
    got.flatMap((output) => (output.kind === 'activity' ? [output.speaking.join(' ')] : []));

  it('is shown to the members of every instance, at most twice a second', async () => {
    const { a, b, clock, host, es } = await startTalk();
    a.rooms.noteSpeaking('host', true);
    await clock.advance(0);
    b.rooms.noteSpeaking('es', true);
    a.rooms.noteSpeaking('host', false);
    a.rooms.noteSpeaking('host', true);
    await clock.advance(499);
    for (const member of [host, es]) expect(shown(member)).toEqual(['host']);
    await clock.advance(1);
    for (const member of [host, es]) expect(shown(member)).toEqual(['host', 'es host']);
    b.rooms.noteSpeaking('es', false);
    a.rooms.noteSpeaking('host', false);
    await clock.advance(1_500);
    for (const member of [host, es]) expect(shown(member).at(-1)).toBe('');
  });

  it('is repeated while it lasts, and forgotten if its instance says no more of it', async () => {
    const { a, clock, es } = await startTalk();
    a.rooms.noteSpeaking('host', true);
    await clock.advance(20_000);
    expect(shown(es)).toEqual(['host']);
    a.kill();
    a.rooms.abandonAll();
    await clock.advance(6_000);
    expect(shown(es)).toEqual(['host', '']);
  });

  it('a muted member is not shown', async () => {
    const { a, b, clock, es, host } = await startTalk();
    await a.rooms.members.moderate('host', { action: 'mute', memberId: 'es' });
    await clock.advance(0);
    b.rooms.noteSpeaking('es', true);
    await clock.advance(1_000);
    for (const member of [host, es]) expect(shown(member)).toEqual([]);
  });
});

describe('a join that takes long', () => {
  it('R1: is to a room that its instance still follows afterwards', async () => {
    const rig = createRoomsRig();
    const { clock, stores } = rig;
    const [a, b] = [rig.start('a'), rig.start('b')];
    const host = await a.enter('host', 'en');
    const { save } = stores.records;
    const saved = new Promise<void>((resolve) => void clock.after(3_000, resolve));
    stores.records.save = async (...given) => {
      await saved;
      return save(...given);
    };
    const joining = b.enter('es', 'es');
    await clock.advance(4_000);
    const es = await joining;
    await host.say('one');
    await a.recognise('one');
    await a.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    expect(stores.followers.of((await rig.record())?.roomId ?? '')).toContain('b/1');
  });
});

describe('a room that was opened over HTTP', () => {
  it('is followed by its instance without members: it ends in time, and is reported', async () => {
    const { clock, start, stores } = createRoomsRig();
    const { rooms } = start('a');
    const ended: string[] = [];
    rooms.service.onEnded(({ roomId }, reason) => ended.push(`${roomId} ${reason}`));
    const made = await rooms.service.create({ tenantId: 't', settings: {} });
    const roomId = made.kind === 'done' ? made.room.roomId : '';
    expect(stores.followers.of(roomId)).toEqual(['a/1']);
    await clock.advance(62_000);
    expect(ended).toEqual([`${roomId} expired`]);
    expect(rooms.counts()).toMatchObject({ rooms: 0 });
  });
});

describe('where no texts are stored', () => {
  it('a room is not recorded and has no transcript', async () => {
    const { rooms } = createRoomsRig({ keepsNoTexts: true }).start('a');
    const refused = { code: 'FORBIDDEN', message: expect.stringContaining('privacy.store_texts') };
    const recorded = { isRecorded: true };
    expect(await rooms.service.create({ tenantId: 't', settings: recorded })).toMatchObject(refused);
    const made = await rooms.service.create({ tenantId: 't', settings: { isRecorded: false } });
    const roomId = made.kind === 'done' ? made.room.roomId : '';
    expect(await rooms.service.change('t', roomId, recorded)).toMatchObject({
      ...refused,
      field: '/recorded',
    });
    const order = { tenantId: 't', roomId, language: 'es', afterSeq: 0, limit: 10 };
    expect(await rooms.service.transcript(order)).toMatchObject(refused);
  });

  it('a late listener gets nothing of before, a member that resumes what it missed', async () => {
    const { start, record, clock } = createRoomsRig({ keepsNoTexts: true });
    const a = start('a');
    const host = await a.enter('host', 'en');
    const es = await a.enter('es', 'es');
    const say = async (text: string) => {
      await host.say(text);
      await a.recognise(text);
      await a.translate(text, 'es');
    };
    await say('one');
    await es.disconnect();
    await say('two');
    const late = await a.enter('late', 'es', { afterSeq: 0 });
    const back = await a.enter('es', 'es', { afterSeq: 1 });
    const read: string[] = [];
    const order = { tenantId: 't', roomId: (await record())?.roomId ?? '', language: 'es', afterSeq: 0 };
    await a.rooms.service.captions(order, (event) => {
      if (event.kind === 'caption') read.push(event.caption.text);
    });
    await say('three');
    await clock.advance(0);
    expect(late.captions()).toEqual(['3 <three es>']);
    expect(back.captions()).toEqual(['2 <two es>', '3 <three es>']);
    expect(read).toEqual(['<three es>']);
  });
});

describe('the end of a room', () => {
  it('comes after the idle time, for the members of every instance', async () => {
    const { a, b, clock, host, es } = await startTalk();
    const ended: unknown[] = [];
    for (const { rooms } of [a, b])
      rooms.service.onEnded(({ endedAt }, reason) => ended.push([reason, endedAt]));
    await clock.advance(59_000);
    expect(host.got.some(({ kind }) => kind === 'expired')).toBe(false);
    await clock.advance(3_000);
    for (const member of [host, es])
      expect(member.got.filter(({ kind }) => kind === 'expired')).toHaveLength(1);
    expect(ended).toEqual([['expired', expect.any(Number)]]);
  });
});

describe('two instances that end a room at once', () => {
  it('report its end once', async () => {
    const { a, b, record } = await startTalk();
    const ended: string[] = [];
    for (const { rooms } of [a, b]) rooms.service.onEnded(({ roomId }) => ended.push(roomId));
    const { roomId = '' } = (await record()) ?? {};
    await Promise.all([a, b].map(({ rooms }) => rooms.service.end('t', roomId)));
    expect(ended).toEqual([roomId]);
  });
});

describe('erasing', () => {
  it('an erased utterance does not hold back later ones, and its late translation is not kept', async () => {
    const { a, b, clock, host, es, fr, stores, record } = await startTalk();
    await host.say('one');
    await a.recognise('one');
    await es.say('two');
    await b.recognise('two');
    await b.translate('two', 'fr');
    expect(fr.captions()).toEqual([]);
    expect(await b.rooms.service.eraseSaid('t', { speaker: 'host' })).toEqual({
      kind: 'done',
      utterances: 1,
    });
    await clock.advance(0);
    expect(fr.captions()).toEqual(['2 <two fr>']);
    await a.translate('one', 'es');
    const read = await stores.log.read((await record())?.roomId ?? '', 0, 100);
    expect(JSON.stringify(read)).not.toContain('<one');
  });

  it('reaches an instance that follows the room without members', async () => {
    const { a, b, clock, host, es, fr } = await startTalk();
    await host.say('one');
    await a.recognise('one');
    await a.translate('one', 'fr');
    for (const member of [host, es, fr]) await member.leave();
    await clock.advance(2_000);
    await b.rooms.service.eraseSaid('t', { speaker: 'host' });
    await clock.advance(0);
    expect((await a.enter('late-a', 'fr')).captions()).toEqual([]);
    expect((await b.enter('late-b', 'fr')).captions()).toEqual([]);
  });
});
