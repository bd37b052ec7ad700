/**
 * Clients that open a session, speak for a while, sometimes lose the connection, and leave: in order, in a hurry, or without closing
 * anything.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSession, type WebSocketConstructor } from '@lingua/sdk/client';
import WebSocket from 'ws';
import { speak } from '../../chaos/fleet/speech.ts';
import { type Backend, createBalancer } from '../../chaos/wire/balancer.ts';
import type { Work } from './tally.ts';

export interface VisitorOptions {
  readonly name: string;
  readonly chance: () => number;
  readonly work: Work;
  readonly backends: () => readonly Backend[];
  /** No further visit begins, and no visitor speaks on. */
  readonly isOver: () => boolean;
}

/** Pieces of equal length. */
export const [BYTES, PIECES] = [2_400, 3];
export const TIMINGS = {
  quickMs: 50,
  firstMs: 100,
  longestMs: 1_000,
  openTimeoutMs: 4_000,
  closeTimeoutMs: 2_000,
};
export const SETTLE_MS = 20_000;
const [UTTERANCES_LEAST, UTTERANCES_MORE] = [4, 12];
const PAUSE_MS = 650;
const [CUT, VANISHES, HURRIES] = [0.05, 0.2, 0.2];

export class Plain extends WebSocket {
  constructor(url: string) {
    super(url, { perMessageDeflate: false });
  }
}

/** One visit after the other. */
export async function visitAgainAndAgain(options: VisitorOptions): Promise<void> {
  for (let visit = 1; !options.isOver(); visit += 1) {
    await visitOnce(options, `${options.name}-${visit}`);
    await sleep(PAUSE_MS * options.chance());
  }
}

async function visitOnce({ chance, work, backends, isOver }: VisitorOptions, name: string): Promise<void> {
  const wire = await createBalancer({ backends });
  const session = openSession({
    url: `http://127.0.0.1:${wire.port}`,
    srcLang: 'en',
    tgtLang: 'zh',
    WebSocket: Plain as unknown as WebSocketConstructor,
    timings: TIMINGS,
    chance,
  });
  work.sessions += 1;
  session.on('open', ({ resumed }) => {
    if (resumed) work.resumed += 1;
  });
  session.on('result', () => {
    work.results += 1;
  });
  session.on('missing', () => {
    work.missing += 1;
  });
  session.on('error', () => {
    work.refused += 1;
  });

  function say(words: string): void {
    const audio = speak(words, BYTES);
    const isWhole = chance() < 0.5;
    if (isWhole) session.sendUtterance(audio);
    else {
      for (let at = 0; at < BYTES; at += BYTES / PIECES)
        session.sendAudio(audio.subarray(at, at + BYTES / PIECES));
      session.endUtterance();
    }
    work.utterances += 1;
  }

  const most = UTTERANCES_LEAST + Math.floor(chance() * UTTERANCES_MORE);
  for (let number = 1; number <= most && !isOver(); number += 1) {
    say(`${name}-${number}`);
    if (chance() < CUT) wire.cut();
    await sleep(PAUSE_MS * (0.5 + chance()));
  }

  const mood = isOver() ? 1 : chance();
  if (mood < VANISHES) {
    work.vanished += 1;
    // From here on nothing reaches the scheduler: it must detect that by itself.
    wire.close();
  } else if (mood >= VANISHES + HURRIES)
    await Promise.race([session.settled(), sleep(SETTLE_MS, undefined, { ref: false })]);
  await session.close();
  wire.close();
}
