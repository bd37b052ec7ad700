/** `lingua talk --room`: simulated people in one room until their time is over or Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandIo, interruption } from '../command-io.ts';
import { readOffer } from './offered-languages.ts';
import type { RoomTalkOptions } from './read-talk.ts';
import { captionJson, captionLine, captionsLine, type HeardCaption } from './room-lines.ts';
import { areFaultless } from './room-tally.ts';
import { createSimulatedRoom, type SimulatedRoom } from './simulated-room.ts';
import { isFaultless } from './summary.ts';
import { eventJson, eventLine, summaryJson, summaryLine, type TalkEvent, whyUnserved } from './talk-event.ts';

/** With more people than this only the summary is printed, not every caption. */
const MOST_PRINTED = 20;
/** From the first try until all are in the room, if there is a limit to the talk itself. */
const ENTER_MS = 30_000;

export async function runRoomTalk(talk: RoomTalkOptions, io: CommandIo): Promise<number> {
  const offer = await readOffer(talk, talk.languages);
  if (offer.kind === 'missing') {
    for (const problem of offer.problems) io.err(`lingua talk: --languages: ${problem}`);
    return 2;
  }
  if (offer.kind === 'refused') {
    io.err(`lingua talk: ${whyUnserved(talk)}`);
    return 1;
  }
  const room = createSimulatedRoom(talk, printer(talk, io));
  const refusal = await letTalk(room, talk, io);
  if (refusal === undefined) await room.finish();
  await room.close();
  if (refusal !== undefined) {
    io.err(`lingua talk: ${refusal}`);
    return 1;
  }
  const summary = room.summary();
  if (talk.isJson) io.out(summaryJson(summary));
  else for (const line of [...summary.captions.map(captionsLine), summaryLine(summary)]) io.out(line);
  return isFaultless(summary) && areFaultless(summary.captions) ? 0 : 1;
}

function printer({ isJson, people, languages }: RoomTalkOptions, { out }: CommandIo) {
  const isPrinted = isJson || people <= MOST_PRINTED;
  return {
    caption(caption: HeardCaption): void {
      if (isPrinted) out(isJson ? captionJson(caption) : captionLine(caption));
    },
    event(person: number, event: TalkEvent): void {
      if (isJson) out(eventJson({ person }, event));
      // What was said is printed as the others got it.
      else if (isPrinted && !isGood(event)) {
        const speaks = languages[(person - 1) % languages.length] ?? '';
        out(eventLine(`person ${person}`, event, [speaks, speaks]));
      }
    },
  };
}

const isGood = (event: TalkEvent): boolean =>
  event.kind === 'outcome' && event.missing === undefined && event.report.verdict === 'good';

/** Returns why they could not talk. */
async function letTalk(
  room: SimulatedRoom,
  talk: RoomTalkOptions,
  io: CommandIo,
): Promise<string | undefined> {
  const over = new AbortController();
  const interrupted = interruption(io).then(() => undefined);
  const after = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  const limits = (ms: number) => [interrupted, ...(talk.seconds === 0 ? [] : [after(ms)])];
  const entered = room.enter().then(
    (code) => ({ code }),
    (error: unknown) => ({ refusal: error instanceof Error ? error.message : String(error) }),
  );
  try {
    const first = await Promise.race([entered, ...limits(ENTER_MS)]);
    if (first === undefined) return whyUnserved(talk);
    if ('refusal' in first) return first.refusal;
    io.out(
      talk.isJson
        ? JSON.stringify({ event: 'room', code: first.code, simulated: true })
        : greeting(talk, first.code),
    );
    room.talk();
    await Promise.race(limits(talk.seconds * 1_000));
    return undefined;
  } finally {
    over.abort();
  }
}

const greeting = ({ people, languages, urls, seconds }: RoomTalkOptions, code: string): string =>
  `${people} simulated people talk in room ${code} (${languages.join(', ')}) → ${urls.join(', ')} ` +
  (seconds === 0 ? '(Ctrl-C ends)' : `for ${seconds} s`);
