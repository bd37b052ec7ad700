/** Who may join a room, what roles allow, and what moderation changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Hears, RoomLimits, RoomRecord, RoomRole } from '../../../src/domain/room.ts';
import { heardLanguages, promisedLanguages } from '../../../src/session/rooms/demand.ts';
import {
  dropFollower,
  endRoom,
  isRefusal,
  type Joining,
  joinRoom,
  leaveRoom,
  markAway,
  moderate,
  newRoom,
  type RoomStep,
  removeAway,
  setAudience,
  setPair,
  unlisted,
  updateMember,
} from '../../../src/session/rooms/room-steps.ts';

const LIMITS: RoomLimits = {
  maxPerTenant: 10,
  maxMembers: 6,
  maxSpeakers: 3,
  maxLanguages: 3,
  maxListed: 4,
  maxOpenUtterances: 4,
  reorderMs: 1_500,
  unheardMs: 3_000,
  idleMs: 60_000,
  awayMs: 10_000,
  interpreterMs: 10_000,
};

const hears = (language: string, isVoiceWanted = false): Hears => ({
  language,
  isCaptionWanted: true,
  isVoiceWanted,
  original: 'duck',
});

const joining = (memberId: string, parts: Partial<Joining> = {}): Joining => ({
  memberId,
  speaks: 'en',
  hears: hears('es'),
  isLegacy: false,
  follower: 'a/1',
  joinId: `j-${memberId}`,
  at: 10,
  ...parts,
});

const EMPTY = newRoom({ roomId: 'r', tenantId: 't', code: 'abc', createdAt: 1, settings: {} });
const HOST = { grantedRole: 'host', role: 'host' } as const;

function after(...steps: readonly RoomStep[]): RoomRecord {
  return steps.reduce((room, step) => {
    const stepped = step(room);
    if (stepped === undefined || isRefusal(stepped)) throw new Error(JSON.stringify(stepped));
    return stepped;
  }, EMPTY);
}

const join = (memberId: string, parts: Partial<Joining> = {}) => joinRoom(joining(memberId, parts), LIMITS);
const codeOf = (stepped: ReturnType<RoomStep>) => (stepped && isRefusal(stepped) ? stepped.code : stepped);
const ids = ({ members }: RoomRecord) => members.map(({ memberId }) => memberId);

describe('joining a room', () => {
  it('with the code alone a member is a speaker and no host', () => {
    expect(after(join('a')).members).toMatchObject([{ role: 'speaker', speaks: 'en' }]);
    expect(join('a', { role: 'host' })(EMPTY)).toMatchObject({ code: 'FORBIDDEN', field: '/role' });
    expect(after(join('a', HOST)).members).toMatchObject([{ role: 'host' }]);
  });

  it('keeps the role and the mute of a member that comes back', () => {
    const room = after(
      join('h', HOST),
      join('a'),
      moderate('h', { action: 'role', memberId: 'a', role: 'interpreter' }, 11, LIMITS),
      moderate('h', { action: 'mute', memberId: 'a' }, 11, LIMITS),
      markAway('a', 'j-a', 12),
      join('a', { joinId: 'j2' }),
    );
    expect(room.members.find(({ memberId }) => memberId === 'a')).toMatchObject({
      role: 'interpreter',
      isMutedByHost: true,
      joinNumber: 3,
    });
    expect(room.members.some(({ awaySince }) => awaySince !== undefined)).toBe(false);
  });

  it('is refused when the room is full, locked or ended, or a host has removed the member', () => {
    const three = after(join('h', HOST), join('a'), join('b'));
    expect(codeOf(join('c')(three))).toBe('ROOM_FULL');
    expect(codeOf(moderate('h', { action: 'lock' }, 1, LIMITS)(three))).toMatchObject({ isLocked: true });
    const locked = after(join('h', HOST), moderate('h', { action: 'lock' }, 1, LIMITS));
    expect(codeOf(join('c')(locked))).toBe('ROOM_LOCKED');
    const removed = after(
      join('h', HOST),
      join('a'),
      moderate('h', { action: 'remove', memberId: 'a' }, 1, LIMITS),
    );
    expect(codeOf(join('a')(removed))).toBe('FORBIDDEN');
    expect(codeOf(join('c')(after(join('a'), endRoom(5))))).toBe('ROOM_NOT_FOUND');
  });

  it('counts listeners of a large room and does not list them', () => {
    const listener = { role: 'listener' } as const;
    const four = after(...['a', 'b', 'c', 'd'].map((id) => join(id, listener)));
    expect(join('e', listener)(four)).toBeUndefined();
    const counted = setAudience('a/1', { es: { captions: 2, voices: 0 } })(four) as RoomRecord;
    expect(unlisted(counted)).toBe(2);
    expect(codeOf(join('f', listener)(counted))).toBe('ROOM_FULL');
  });
});

describe('leaving a room', () => {
  it('an old connection that ends does not remove the member that came back', () => {
    const room = after(join('a'), join('a', { joinId: 'j2' }));
    expect(leaveRoom('a', 'j-a')(room)).toBeUndefined();
    expect(markAway('a', 'j-a', 5)(room)).toBeUndefined();
  });

  it('a member that is away leaves after the time to resume, a legacy one at once', () => {
    const room = after(
      join('a'),
      join('l', { isLegacy: true }),
      markAway('a', 'j-a', 100),
      markAway('l', 'j-l', 100),
    );
    expect(ids(room)).toEqual(['a']);
    expect(removeAway(10_099, LIMITS)(room)).toBeUndefined();
    expect(ids(removeAway(10_100, LIMITS)(room) as RoomRecord)).toEqual([]);
  });

  it('the members of a dead instance are away, and its counted hearers gone', () => {
    const room = after(
      join('a'),
      join('b', { follower: 'b/1' }),
      setAudience('a/1', { de: { captions: 3, voices: 0 } }),
      dropFollower('a/1', 50),
    );
    expect(room.members.map(({ awaySince }) => awaySince)).toEqual([50, undefined]);
    expect([...heardLanguages(room).keys()]).toEqual(['es']);
  });
});

describe('moderation', () => {
  it('is for hosts', () => {
    expect(codeOf(moderate('a', { action: 'lock' }, 1, LIMITS)(after(join('a'))))).toBe('FORBIDDEN');
    expect(codeOf(moderate('x', { action: 'lock' }, 1, LIMITS)(after(join('a'))))).toBe('NOT_IN_ROOM');
  });

  it('a member that a host muted cannot unmute itself', () => {
    const muted = after(
      join('h', HOST),
      join('a'),
      moderate('h', { action: 'mute', memberId: 'a' }, 1, LIMITS),
    );
    expect(codeOf(updateMember('a', { isMuted: false })(muted))).toBe('FORBIDDEN');
    const own = after(join('a'), updateMember('a', { isMuted: true }), updateMember('a', { isMuted: false }));
    expect(own.members).toMatchObject([{ isMuted: false }]);
  });

  it('a listener does not speak until a host makes it a speaker', () => {
    const room = after(join('h', HOST), join('l', { role: 'listener' }));
    expect(codeOf(updateMember('l', { speaks: 'fr' })(room))).toBe('FORBIDDEN');
    const made = moderate(
      'h',
      { action: 'role', memberId: 'l', role: 'speaker' },
      1,
      LIMITS,
    )(room) as RoomRecord;
    expect(codeOf(updateMember('l', { speaks: 'fr' })(made))).not.toBe('FORBIDDEN');
  });

  it('one wish silences both directions of a pair, until either takes it back', () => {
    const silent = after(join('a'), join('b'), setPair('a', 'b', false));
    expect(silent.silentPairs).toEqual(['a b']);
    expect((setPair('b', 'a', true)(silent) as RoomRecord).silentPairs).toEqual([]);
    expect((leaveRoom('b')(silent) as RoomRecord).silentPairs).toEqual([]);
  });
});

describe('promised languages', () => {
  const member = fc.record({
    role: fc.constantFrom<RoomRole>('speaker', 'listener'),
    hears: fc.option(
      fc.record({ language: fc.constantFrom('de', 'en', 'es', 'fr', 'it'), voice: fc.boolean() }),
    ),
  });

  it('R3, R4: are heard by another member, and never what was spoken', () => {
    const limits = { ...LIMITS, maxMembers: 100, maxListed: 100, maxSpeakers: 100 };
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('de', 'en'),
        (members, language) => {
          const room = members.reduce<RoomRecord>((before, { role, hears: heard }, at) => {
            const hearing = heard === null ? undefined : hears(heard.language, heard.voice);
            return joinRoom(joining(`m${at}`, { role, hears: hearing }), limits)(before) as RoomRecord;
          }, EMPTY);
          const promised = promisedLanguages(room, { speaker: 'm0', language }, new Set(['it']), 3);
          const others = members.slice(1).flatMap(({ hears: heard }) => heard ?? []);
          expect(promised.length).toBeLessThanOrEqual(3);
          for (const target of promised) {
            expect(target.language).not.toBe(language);
            expect(target.language).not.toBe('it');
            const hearing = others.filter((heard) => heard.language === target.language);
            expect(hearing.length).toBeGreaterThan(0);
            expect(target.isVoiceWanted).toBe(hearing.some(({ voice }) => voice));
          }
          const wanted = new Set(others.map((heard) => heard.language));
          wanted.delete(language);
          wanted.delete('it');
          if (wanted.size <= 3) expect(promised).toHaveLength(wanted.size);
        },
      ),
    );
  });

  it('R3: an interpreter’s utterance is promised in none', () => {
    const room = after(join('a'), join('b', { hears: hears('de') }));
    expect(promisedLanguages(room, { speaker: 'a', language: 'es', channel: 'es' }, new Set(), 3)).toEqual(
      [],
    );
  });
});
