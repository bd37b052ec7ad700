/** Simulated people in one room: each speaks its language and gets captions in it, by a session of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Room, RoomRefused } from '@lingua/sdk/client';
import { seedOf } from '../simulated-node/seeded-chance.ts';
import { planTurn, type Turn } from './plan-turn.ts';
import type { RoomTalkOptions } from './read-talk.ts';
import type { HeardCaption, RoomSummary } from './room-lines.ts';
import { createRoomTally, type SpokenCounts } from './room-tally.ts';
import { createSimulatedSession } from './simulated-session.ts';
import { createLatencies, sumUp } from './summary.ts';
import type { TalkEvent } from './talk-event.ts';

/** How long people wait for the last captions. */
const SETTLE_MS = 30_000;
const SETTLE_POLL_MS = 20;

export interface SimulatedRoom {
  /** Returns the code of the room. Rejects if a person cannot enter. */
  enter(): Promise<string>;
  talk(): void;
  /** They stop talking, and wait for the last captions. */
  finish(): Promise<void>;
  /** The room ends. */
  close(): Promise<void>;
  summary(): RoomSummary;
}

/** People are counted from 1. */
export function createSimulatedRoom(
  talk: RoomTalkOptions,
  on: {
    readonly caption: (caption: HeardCaption) => void;
    readonly event: (person: number, event: TalkEvent) => void;
  },
): SimulatedRoom {
  const { behaviour, urls, people: count } = talk;
  const languages = Array.from(
    { length: count },
    (_, at) => talk.languages[at % talk.languages.length] ?? '',
  );
  const names = languages.map((_, at) => `Person ${at + 1}`);
  const tally = createRoomTally(languages);
  const latencies = createLatencies();
  const delays = new Map(talk.languages.map((language) => [language, createLatencies()]));
  const people = languages.map((language, at) =>
    createSimulatedSession({
      ...talk,
      url: urls[at % urls.length] ?? urls[0],
      languages: { srcLang: language, tgtLang: language },
      // Otherwise all would speak at once.
      behaviour: { ...behaviour, pauseMs: behaviour.pauseMs * count },
      next: (...now): Turn => ({ ...planTurn(...now), isSecondSpeaker: false }),
      seed: seedOf(talk.seed, at),
      onEvent(event) {
        if (event.kind === 'outcome' && event.report.latencyMs !== undefined)
          latencies.add(event.report.latencyMs);
        on.event(at + 1, event);
      },
    }),
  );
  let host: Room | undefined;
  let isOver = false;

  function listen(room: Room, listener: number): void {
    room.on('caption', (caption) => {
      const speaker = names.indexOf(caption.speakerName ?? '');
      // A real person with the code of the room may be in it, too.
      if (speaker < 0) return;
      const delayMs = Math.max(0, Date.now() - caption.endedAt);
      const verdict = tally.caption(listener, { ...caption, speaker });
      if (caption.isFinal) delays.get(caption.language)?.add(delayMs);
      const speaks = languages[speaker] ?? '';
      on.caption({ person: listener + 1, speaker: speaker + 1, speaks, caption, verdict, delayMs });
    });
    const failed = (code: string, message: string): void => {
      if (!isOver) on.event(listener + 1, { kind: 'error', code, message });
    };
    room.on('error', ({ code, message }) => failed(code, message));
    room.on('ended', ({ reason, message }) => failed(`room ended (${reason})`, message));
  }

  async function enterOne(at: number, code: string | undefined): Promise<Room> {
    const { rooms } = (people[at] as (typeof people)[number]).session;
    const language = languages[at] ?? '';
    const wishes = { name: names[at], speaks: language, hears: { language } };
    try {
      const room = await (code === undefined ? rooms.create(wishes) : rooms.join(code, wishes));
      listen(room, at);
      return room;
    } catch (error) {
      if (!(error instanceof RoomRefused)) throw error;
      throw new Error(`person ${at + 1} cannot enter the room: ${error.code}: ${error.message}`);
    }
  }

  const spoken = (): SpokenCounts[] =>
    people.map((person) => {
      const { utterances, results, missing } = person.counts();
      const outcomes = Object.values(missing).reduce((sum, one) => sum + one, results);
      return { utterances: Math.max(utterances, outcomes), results };
    });

  const summary = (): RoomSummary => ({
    ...sumUp(
      people.map((person) => person.counts()),
      latencies.read(),
    ),
    captions: tally
      .counts(spoken())
      .map((counts) => ({ ...counts, delayMs: delays.get(counts.language)?.read() })),
  });

  return {
    async enter() {
      await Promise.all(people.map((person) => person.opened()));
      host = await enterOne(0, undefined);
      // One after the other: each join changes the record of the room.
      for (let at = 1; at < count && !isOver; at += 1) await enterOne(at, host.code);
      return host.code;
    },
    talk() {
      for (const [at, person] of people.entries()) person.talk(at * behaviour.pauseMs);
    },
    async finish() {
      await Promise.all(people.map((person) => person.finish()));
      const until = Date.now() + SETTLE_MS;
      while (summary().captions.some(({ lost }) => lost > 0) && Date.now() < until)
        await sleep(SETTLE_POLL_MS);
    },
    async close() {
      isOver = true;
      host?.moderate.end();
      await Promise.all(people.map((person) => person.close()));
    },
    summary,
  };
}
