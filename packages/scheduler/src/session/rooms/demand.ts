/** Hot path: which languages of a room are heard, and which of them one utterance is promised in. Pure. */
import { AUTO, foldLanguage, type Language } from '../../domain/language.ts';
import type { WantedTarget } from '../../domain/plan.ts';
import type { Hears, MemberId, RoomRecord } from '../../domain/room.ts';
import type { LanguageState } from './room-output.ts';
import type { Attendee, JoinRoom } from './room-service.ts';

export interface Demand {
  hearers: number;
  isVoiceWanted: boolean;
}

/** Members without a connection count until they have left. `except`: this member does not count. */
export function heardLanguages(room: RoomRecord, except?: MemberId): ReadonlyMap<Language, Demand> {
  const heard = new Map<Language, Demand>();
  function add(language: Language, hearers: number, isVoiceWanted: boolean): void {
    const before = heard.get(language);
    heard.set(language, {
      hearers: (before?.hearers ?? 0) + hearers,
      isVoiceWanted: isVoiceWanted || before?.isVoiceWanted === true,
    });
  }
  for (const { memberId, hears } of room.members) {
    if (memberId === except || hears === undefined) continue;
    if (hears.isCaptionWanted || hears.isVoiceWanted) add(hears.language, 1, hears.isVoiceWanted);
  }
  for (const audience of Object.values(room.audiences))
    for (const [language, { captions, voices }] of Object.entries(audience))
      add(language, captions, voices > 0);
  for (const language of room.fixedLanguages) add(language, 0, false);
  return heard;
}

/** Whether what the members speak can be translated into what they hear. */
export function languageStates(
  room: RoomRecord,
  canTranslate: (source: Language, target: Language) => boolean,
): Readonly<Record<Language, LanguageState>> {
  const spoken = room.members.flatMap(({ speaks }) =>
    speaks === undefined || speaks === AUTO ? [] : [speaks],
  );
  const states = [...heardLanguages(room).keys()].map((language) => {
    const others = [...new Set(spoken)].filter((source) => source !== language);
    const able = others.filter((source) => canTranslate(source, language)).length;
    const state = able === others.length ? 'ok' : able === 0 ? 'unavailable' : 'degraded';
    return [language, state] as const;
  });
  return Object.fromEntries(states);
}

/**
 * The languages of an utterance, those with the most hearers first. Its own language needs no translation (R4); a language into which an
 * interpreter speaks is not translated by machine.
 */
export function promisedLanguages(
  room: RoomRecord,
  utterance: {
    readonly speaker: MemberId;
    readonly language: Language;
    readonly channel?: Language | undefined;
  },
  interpreted: ReadonlySet<Language>,
  maxLanguages: number,
): readonly WantedTarget[] {
  if (utterance.channel !== undefined) return [];
  return [...heardLanguages(room, utterance.speaker)]
    .filter(([language]) => language !== utterance.language && !interpreted.has(language))
    .sort(([one, a], [other, b]) => b.hearers - a.hearers || (one < other ? -1 : 1))
    .slice(0, maxLanguages)
    .map(([language, { isVoiceWanted }]) => ({ language, isVoiceWanted }));
}

/** A legacy client takes all speech in a room for pcm16, which nodes do not send: it gets texts. */
export const hearsOf = (by: Attendee, { hears, grant }: Pick<JoinRoom, 'hears' | 'grant'>): Hears => {
  const wanted = hears ?? {
    language: grant?.language ?? by.target,
    isCaptionWanted: true,
    isVoiceWanted: false,
    original: 'duck',
  };
  return { ...wanted, language: foldLanguage(wanted.language) };
};
