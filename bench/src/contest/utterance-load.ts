/** Sessions whose utterances arrive at their times, each in one chunk that names its request. */
import { chunkFrame, openMany, type RawSession } from '../load/raw-session.ts';
import { arrivalTimes } from '../open-loop/arrivals.ts';
import { createChance } from '../open-loop/chance.ts';
import { createHistogram } from '../open-loop/histogram.ts';
import { openLoop } from '../open-loop/open-loop.ts';
import type { LoadStart } from './load-process.ts';
import type { Load } from './request-load.ts';

interface Speaker {
  readonly session: RawSession;
  turns: number;
}

const keyOf = (sessionId: string, turn: number): string => `${sessionId}/${turn}`;

export function createUtterances({ scenario, ports, isBare }: LoadStart): Load {
  const speakers: Speaker[] = [];
  /** Utterances without an outcome: when each was due, and how to settle it. */
  const open = new Map<string, { readonly dueAt: number; readonly settle: (isDone: boolean) => void }>();
  let dispatch = createHistogram();
  let spoken = 0;

  function receive({ session }: Speaker, text: string): void {
    if (!text.startsWith('{"type":"translation_result"') && !text.startsWith('{"type":"missing_result"'))
      return;
    const { utterance_index, delivery_seq, type } = JSON.parse(text) as {
      type: string;
      utterance_index: number;
      delivery_seq?: number;
    };
    if (delivery_seq !== undefined)
      session.ws.send(JSON.stringify({ type: 'result_ack', session_id: session.sessionId, delivery_seq }));
    open.get(keyOf(session.sessionId, utterance_index))?.settle(type === 'translation_result');
  }

  /** An echo is both the node and the result. */
  function receiveEcho(text: string): void {
    const key = /"request_id":"([^"]+)"/.exec(text)?.[1] ?? '';
    const utterance = open.get(key);
    if (utterance === undefined) return;
    dispatch.record(performance.now() - utterance.dueAt);
    utterance.settle(true);
  }

  function speak(speaker: Speaker, dueAt: number): Promise<boolean> {
    const { session } = speaker;
    const turn = speaker.turns++;
    const key = keyOf(session.sessionId, turn);
    return new Promise((resolve) => {
      open.set(key, {
        dueAt,
        settle(isDone) {
          open.delete(key);
          resolve(isDone);
        },
      });
      const requestId = isBare ? key : key.replace('/', '.');
      session.ws.send(chunkFrame(session.sessionId, turn, { requestId, isFinal: true }));
    });
  }

  return {
    async connect() {
      const sessions = await openMany(`ws://127.0.0.1:${ports[0]}`, scenario.sessions);
      sessions.forEach((opened, index) => {
        // All echoes would have the same one.
        const session = isBare ? { ...opened, sessionId: `s-echo-${index}` } : opened;
        const speaker = { session, turns: 0 };
        opened.onText = isBare ? receiveEcho : (text) => receive(speaker, text);
        speakers.push(speaker);
      });
    },
    async open({ rate, seconds, seed }) {
      dispatch = createHistogram();
      let [done, refused] = [0, 0];
      const times = arrivalTimes({ ...scenario.arrivals, rate }, seconds * 1_000, createChance(seed));
      await openLoop(times, async (dueAt) => {
        const speaker = speakers[spoken++ % speakers.length];
        if (speaker === undefined) throw new Error('no session is connected');
        if (await speak(speaker, dueAt)) done += 1;
        else refused += 1;
      });
      return { dispatch: dispatch.counts(), done, refused };
    },
    assigned(sessionId, utteranceIndex) {
      const utterance = open.get(keyOf(sessionId, utteranceIndex));
      if (utterance !== undefined) dispatch.record(performance.now() - utterance.dueAt);
    },
    isQuiet: () => open.size === 0,
  };
}
