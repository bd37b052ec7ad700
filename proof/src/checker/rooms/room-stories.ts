/** What members of each room said, heard and received, and what nodes did for it. Pure. */
import { type HistoryEvent, ofKind, type Run } from '../../../../packages/simulation/dist/history.js';
import type { RequestStory } from '../request-stories.ts';

export type Caption = Extract<HistoryEvent, { kind: 'captioned' }>;

/** One connection of a member to the room. */
export interface Presence {
  readonly from: number;
  /** Infinity: to the end. */
  to: number;
  readonly captions: Caption[];
}

/** A member hears a language, with a connection or without. */
export interface Hearing {
  readonly client: string;
  readonly language: string;
  readonly from: number;
  to: number;
  /** It said so: otherwise the scheduler learns it when the member does not come back. */
  hasLeft: boolean;
  readonly presences: Presence[];
}

/** A job that has its input from the utterance. */
export interface RoomWork extends Run {
  readonly stages: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly assignedAt: number;
  doneAt: number | undefined;
}

export interface Utterance {
  readonly client: string;
  readonly request: string;
  readonly words: string;
  readonly language: string;
  readonly pool: string | undefined;
  readonly askedAt: number;
  readonly acceptedAt: number | undefined;
  /** When its speaker got the recognised text. */
  readonly resultAt: number | undefined;
  readonly captions: Caption[];
  readonly works: RoomWork[];
}

export interface RoomStory {
  readonly room: string;
  /** By their words. */
  readonly utterances: Map<string, Utterance>;
  readonly hearings: Hearing[];
  readonly captions: Caption[];
}

export interface RoomStories {
  readonly rooms: readonly RoomStory[];
  /** By words: in which room they were said. */
  readonly saidIn: ReadonlyMap<string, { readonly room: RoomStory; readonly utterance: Utterance }>;
}

export function roomStories(
  history: readonly HistoryEvent[],
  requests: readonly RequestStory[],
): RoomStories {
  const rooms = new Map<string, RoomStory>();
  const saidIn = new Map<string, { room: RoomStory; utterance: Utterance }>();
  const roomOf = (room: string): RoomStory => {
    const story = rooms.get(room) ?? { room, utterances: new Map(), hearings: [], captions: [] };
    rooms.set(room, story);
    return story;
  };
  const told = new Map(requests.map((story) => [`${story.client} ${story.request}`, story]));
  for (const { client, request, words, room: name, language = '', pool, at } of ofKind(history, 'asked')) {
    if (name === undefined) continue;
    const { acceptedAt, outcomes = [] } = told.get(`${client} ${request}`) ?? {};
    const utterance: Utterance = {
      client,
      request,
      words,
      language,
      pool,
      askedAt: at,
      acceptedAt,
      resultAt: outcomes.find(({ result }) => result !== undefined)?.at,
      captions: [],
      works: [],
    };
    const room = roomOf(name);
    room.utterances.set(words, utterance);
    saidIn.set(words, { room, utterance });
  }
  noteMembers(history, roomOf);
  for (const room of rooms.values())
    for (const caption of room.captions) saidIn.get(caption.result.words)?.utterance.captions.push(caption);
  if (saidIn.size > 0) noteWorks(history, saidIn);
  return { rooms: [...rooms.values()], saidIn };
}

function noteMembers(history: readonly HistoryEvent[], roomOf: (room: string) => RoomStory): void {
  const current = new Map<string, { readonly room: string; readonly hearing: Hearing }>();

  function endPresence({ presences }: Hearing, at: number): void {
    const last = presences.at(-1);
    if (last !== undefined) last.to = Math.min(last.to, at);
  }

  function end(client: string, at: number, hasLeft: boolean): void {
    const { hearing } = current.get(client) ?? {};
    if (hearing === undefined) return;
    hearing.to = at;
    hearing.hasLeft = hasLeft;
    endPresence(hearing, at);
    current.delete(client);
  }

  for (const each of ofKind(
    history,
    'room_wanted',
    'room_entered',
    'room_lost',
    'room_left',
    'client_left',
    'captioned',
  )) {
    const { at, client } = each;
    if (each.kind === 'room_wanted') {
      const { language } = each;
      end(client, at, true);
      const to = Number.POSITIVE_INFINITY;
      const hearing: Hearing = { client, language, from: at, to, hasLeft: false, presences: [] };
      roomOf(each.room).hearings.push(hearing);
      current.set(client, { room: each.room, hearing });
    } else if (each.kind === 'client_left') end(client, at, false);
    else if (each.kind === 'room_left') end(client, at, each.why === 'left');
    else {
      const now = current.get(client);
      const own = now?.room === each.room ? now.hearing : undefined;
      if (each.kind === 'captioned') {
        roomOf(each.room).captions.push(each);
        own?.presences.at(-1)?.captions.push(each);
      } else if (own !== undefined) {
        endPresence(own, at);
        if (each.kind === 'room_entered')
          own.presences.push({ from: at, to: Number.POSITIVE_INFINITY, captions: [] });
      }
    }
  }
}

function noteWorks(
  history: readonly HistoryEvent[],
  saidIn: ReadonlyMap<string, { readonly utterance: Utterance }>,
): void {
  const assigned = new Map<string, number>();
  const works = new Map<string, RoomWork>();
  for (const each of ofKind(history, 'assigned', 'understood', 'ended')) {
    const { node, job, attempt, at } = each;
    const run = `${node} ${job} ${attempt}`;
    if (each.kind === 'assigned') assigned.set(run, assigned.get(run) ?? at);
    else if (each.kind === 'understood') {
      const utterance = saidIn.get(each.words)?.utterance;
      if (utterance === undefined || works.has(run)) continue;
      const { from, to } = each;
      const work: RoomWork = {
        node,
        job,
        attempt,
        stages: each.stages.split('+'),
        from,
        to,
        assignedAt: assigned.get(run) ?? at,
        doneAt: undefined,
      };
      works.set(run, work);
      utterance.works.push(work);
    } else if (each.how === 'done') {
      const work = works.get(run);
      if (work !== undefined) work.doneAt ??= at;
    }
  }
}

/** When its text was known in the room at the latest. */
export const textAt = ({ resultAt, captions }: Utterance): number | undefined => {
  const all = [...(resultAt === undefined ? [] : [resultAt]), ...captions.map(({ at }) => at)];
  return all.length === 0 ? undefined : Math.min(...all);
};

/** When its text could be in the room at the earliest. */
export const readyAt = (utterance: Utterance): number =>
  Math.min(
    textAt(utterance) ?? Number.POSITIVE_INFINITY,
    ...utterance.works.flatMap(({ stages, doneAt }) => (stages.includes('semantic') ? (doneAt ?? []) : [])),
  );
