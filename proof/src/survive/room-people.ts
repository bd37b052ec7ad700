/** Six people in one room, each with a session of the client SDK, who speak four languages; and the log of their room. */
import type { CaptionView, TranscriptReply } from '@lingua/protocol';
import type { Room } from '@lingua/sdk/client';
import { planTurn, type Turn } from '../../../packages/scheduler/dist/cli/simulated-client/plan-turn.js';
import {
  createSimulatedSession,
  type SimulatedSession,
} from '../../../packages/scheduler/dist/cli/simulated-client/simulated-session.js';
import { seedOf } from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { call } from '../chaos/wire/call.ts';
import { eventually } from '../eventually.ts';
import type { Heard, Listener } from './judge-captions.ts';
import type { TalkLine } from './noticed.ts';

const LANGUAGES = ['en', 'es', 'fr', 'de', 'en', 'es'];
export const ROOM_LANGUAGES = [...new Set(LANGUAGES)];
export const PEOPLE = LANGUAGES.length;
const PAUSE_MS = 1_500;
const BEHAVIOUR = { chunkMs: 100, utteranceMs: 2_000, pauseMs: PAUSE_MS * PEOPLE, cutEveryMs: 0 };
const PAGE = 1_000;
const ANSWERED_WITHIN_MS = 30_000;

export interface RoomPeople {
  readonly roomId: string;
  /** What they noticed, in the order of time. */
  readonly lines: readonly TalkLine[];
  talk(): void;
  /** They stop talking and wait for their last outcomes. */
  finish(): Promise<void>;
  listeners(): readonly Listener[];
  /** Their own utterances that have no outcome, or more than one, or were reordered. */
  faults(): number;
  /** What the room says was said, in each language. */
  log(): Promise<ReadonlyMap<string, readonly CaptionView[]>>;
  close(): Promise<void>;
}

/** `port`: serves the log, too. */
export async function enterRoom(url: string, port: number): Promise<RoomPeople> {
  const lines: TalkLine[] = [];
  const people = LANGUAGES.map((language, at) => ({
    name: `Person ${at + 1}`,
    language,
    heard: [] as Heard[],
    talker: createSimulatedSession({
      url,
      languages: { srcLang: language, tgtLang: language },
      behaviour: BEHAVIOUR,
      next: (...now): Turn => ({ ...planTurn(...now), isSecondSpeaker: false }),
      seed: seedOf(1, at),
      onEvent: ({ kind, ...rest }) => void lines.push({ event: kind, pair: at, ...rest }),
    }),
  }));

  async function enter({ name, language, heard, talker }: (typeof people)[number], code?: string) {
    const wishes = { name, speaks: language, hears: { language } };
    const { rooms } = talker.session;
    const room: Room = await (code === undefined
      ? rooms.create({ ...wishes, recorded: true })
      : rooms.join(code, wishes));
    room.on('caption', ({ seq, text, isFinal, endedAt }) => {
      heard.push({ seq, text, isFinal, endedAt, at: Date.now() });
    });
    return room;
  }

  async function page(language: string, afterSeq: number): Promise<TranscriptReply> {
    const path = `/v1/rooms/${roomId}/transcript?lang=${language}&limit=${PAGE}&after_seq=${afterSeq}`;
    return eventually(
      async () => {
        const { status, body } = await call<TranscriptReply>(port, 'GET', path);
        if (status === 200) return body;
        throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
      },
      { withinMs: ANSWERED_WITHIN_MS },
    );
  }

  async function logOf(language: string): Promise<CaptionView[]> {
    const captions: CaptionView[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const read: TranscriptReply = await page(language, after);
      captions.push(...read.captions);
      after = read.next_seq;
    }
    return captions;
  }

  const all = (use: (talker: SimulatedSession) => Promise<void>): Promise<unknown> =>
    Promise.all(people.map(({ talker }) => use(talker)));

  await all((talker) => talker.opened());
  const [host, ...others] = people as [(typeof people)[number], ...typeof people];
  const room = await enter(host);
  for (const person of others) await enter(person, room.code);
  const roomId = room.id ?? '';

  return {
    roomId,
    lines,
    talk() {
      for (const [at, { talker }] of people.entries()) talker.talk(at * PAUSE_MS);
    },
    async finish() {
      await all((talker) => talker.finish());
    },
    listeners: () =>
      people.map(({ name, language, heard, talker }) => ({
        name,
        language,
        heard,
        recognised: talker.counts().results,
      })),
    faults: () =>
      people
        .map(({ talker }) => talker.counts())
        .reduce(
          (sum, { lost, doubled, outOfOrder, refusedBytes }) =>
            sum + lost + doubled + outOfOrder + refusedBytes,
          0,
        ),
    async log() {
      const logs = await Promise.all(ROOM_LANGUAGES.map(logOf));
      return new Map(ROOM_LANGUAGES.map((language, at) => [language, logs[at] ?? []]));
    },
    async close() {
      room.moderate.end();
      await all((talker) => talker.close());
    },
  };
}
