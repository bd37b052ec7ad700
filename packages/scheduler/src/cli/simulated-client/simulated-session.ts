/** One session of simulated people, a pair or a member of a room: the client SDK, and generated speech. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type MissingUtterance,
  openSession,
  type Session,
  type SessionEvents,
  type SessionOptions,
} from '@lingua/sdk/client';
import { createSeededChance, seedOf } from '../simulated-node/seeded-chance.ts';
import { BYTES_PER_MS, soundOf } from '../simulated-speech.ts';
import { createCuttableWebSocket } from './cuttable-web-socket.ts';
import type { TalkBehaviour } from './plan-turn.ts';
import { planCut, type Turn } from './plan-turn.ts';
import type { TalkEvent } from './talk-event.ts';
import { type Counts, createTally } from './tally.ts';

export interface SimulatedSessionOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly languages: Pick<SessionOptions, 'srcLang' | 'tgtLang' | 'mode' | 'langA' | 'langB'>;
  readonly behaviour: TalkBehaviour;
  /** `number` counts the turns from 1. */
  readonly next: (behaviour: TalkBehaviour, number: number, chance: () => number) => Turn;
  readonly seed: number;
  readonly onEvent: (event: TalkEvent) => void;
}

export interface SimulatedSession {
  readonly session: Session;
  /** Resolves when it is connected. Rejects if it is refused permanently. */
  opened(): Promise<void>;
  /** Begins to talk after this time, and to lose connections. */
  talk(afterMs?: number): void;
  counts(): Counts;
  /** Stops talking and waits for the last outcomes. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** How long they wait for the last outcomes. */
const SETTLE_MS = 30_000;

export function createSimulatedSession(options: SimulatedSessionOptions): SimulatedSession {
  const { behaviour, onEvent } = options;
  const chance = createSeededChance(options.seed);
  const silent = new AbortController();
  const tally = createTally();
  const line = createCuttableWebSocket();
  let lostAt: number | undefined;
  let hasOpened = false;
  let tries = 0;
  let talking: Promise<unknown> = Promise.resolve();

  const session = openSession({
    url: options.url,
    token: options.token,
    WebSocket: line.WebSocket,
    clientVersion: 'lingua-talk',
    ...options.languages,
    chance: createSeededChance(seedOf(options.seed, 1)),
  });

  session.on('open', ({ resumed }) => {
    hasOpened = true;
    tally.opened(resumed);
    if (lostAt !== undefined)
      onEvent({ kind: resumed ? 'resumed' : 'reopened', afterMs: Date.now() - lostAt });
    lostAt = undefined;
  });
  session.on('disconnected', ({ code }) => {
    tally.disconnected();
    if (!hasOpened) {
      // Every further try would report the same.
      if (tries === 0) onEvent({ kind: 'unreached', code });
      tries += 1;
      return;
    }
    lostAt ??= Date.now();
    onEvent({ kind: 'disconnected', code });
  });
  session.on('accepted', ({ utteranceIndex, requestId }) => tally.accepted(utteranceIndex, requestId));
  session.on('result', (result) => {
    const { textAsr, textTranslated } = result;
    came(result, undefined, { recognised: textAsr, translated: textTranslated });
    void play(result);
  });
  session.on('missing', (missing) => {
    // Refused audio is shown by its error, and was never accepted.
    if (missing.message !== undefined) came(missing, missing.reason);
  });
  session.on('overflow', ({ refusedBytes }) => tally.refused(refusedBytes));
  session.on('backpressure', ({ action, resumeAfterMs }) =>
    onEvent({ kind: 'pressure', action, resumeAfterMs }),
  );
  session.on('error', ({ code, message }) => onEvent({ kind: 'error', code, message }));

  function came(
    { utteranceIndex, requestId, message }: SessionEvents['result'] | MissingUtterance,
    missing: string | undefined,
    texts?: { recognised: string; translated: string },
  ): void {
    const jobId = 'job_id' in message ? message.job_id : undefined;
    const report = tally.outcome({ utteranceIndex, requestId, jobId, missing }, Date.now());
    onEvent({
      kind: 'outcome',
      index: utteranceIndex,
      report,
      ...(texts !== undefined && { texts }),
      ...(missing !== undefined && { missing }),
    });
  }

  /** Pauses do not end utterances while a translation is played. */
  async function play({ groupId, traceId, ttsAudio }: SessionEvents['result']): Promise<void> {
    if (groupId === undefined || ttsAudio.length === 0) return;
    session.playbackStarted(groupId, traceId);
    await quietly(ttsAudio.length / BYTES_PER_MS);
    session.playbackEnded(groupId, traceId);
  }

  /** False: they were stopped in between. */
  const quietly = (ms: number): Promise<boolean> =>
    sleep(ms, true, { signal: silent.signal }).catch(() => false);

  async function converse(): Promise<void> {
    for (let number = 1; !silent.signal.aborted; number += 1) {
      const turn = options.next(behaviour, number, chance);
      await speak(turn);
      await quietly(turn.pauseMs);
    }
  }

  async function speak(turn: Turn): Promise<void> {
    const sound = soundOf(turn, turn.speakMs);
    const chunkBytes = Math.round(behaviour.chunkMs) * BYTES_PER_MS;
    const startedAt = Date.now();
    for (let at = 0; at < sound.length; at += chunkBytes) {
      session.sendAudio(sound.subarray(at, at + chunkBytes));
      const spokenMs = (at + chunkBytes) / BYTES_PER_MS;
      // By the clock and not by the number of pieces: a late timer does not slow the speech down.
      if (!(await quietly(Math.max(0, startedAt + spokenMs - Date.now())))) break;
    }
    const requestId = session.endUtterance();
    if (requestId !== undefined) tally.said(requestId, turn, Date.now());
  }

  async function loseConnections(): Promise<void> {
    if (behaviour.cutEveryMs === 0) return;
    const when = createSeededChance(seedOf(options.seed, 2));
    for (let number = 1; await quietly(planCut(behaviour, number, when)); number += 1) line.cut();
  }

  return {
    session,
    opened: () =>
      new Promise((resolve, reject) => {
        const stopWaiting = session.on('open', () => {
          stopWaiting();
          resolve();
        });
        session.on('closed', ({ reason }) => reject(new Error(reason)));
      }),
    talk(afterMs = 0) {
      talking = Promise.all([quietly(afterMs).then(converse), loseConnections()]);
    },
    counts: tally.counts,
    async finish() {
      silent.abort();
      await talking;
      const late = new AbortController();
      await Promise.race([
        session.settled(),
        sleep(SETTLE_MS, undefined, { signal: late.signal }).catch(() => {}),
      ]);
      late.abort();
    },
    close: async () => void (await session.close()),
  };
}
