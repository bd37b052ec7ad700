/** Simulation: a speaker that uses the real client SDK over the simulated network. */
import { openSession, type WebSocketConstructor } from '@lingua/sdk/client';
import { readSignature } from '../history.ts';
import { speak } from '../speech.ts';
import { type ClientDeps, nextArrivalMs, type SimulatedClient } from './client-world.ts';
import { simulatedWebSocket } from './simulated-web-socket.ts';

interface Frame {
  readonly type: string;
  readonly session_id: string;
  readonly utterance_index: number;
  readonly delivery_seq?: number;
  readonly job_id?: string;
  readonly reason?: string;
}

const QUICK = { quickMs: 50, firstMs: 100, longestMs: 1_000, openTimeoutMs: 4_000 };
/** Utterances must be this far apart, or the SDK has too many in flight and takes no more. */
const PIECES = 3;

/** `how`: whole utterances, or audio in chunks. */
export function startSpeaker(deps: ClientDeps & { readonly how: 'whole' | 'pieces' }): SimulatedClient {
  const { machine, world, chance, tenant, pool } = deps;
  const { clock, name: client } = machine;
  const { record } = world.recorder;
  /** Found by its words: the SDK does not know the job of an outcome whose acceptance it never received. */
  const requestOf = new Map<string, string>();
  const [srcLang, tgtLang] = deps.languages;
  let isSpeaking = true;
  let number = 0;
  let named = 0;
  /** The instance that sent the last message. */
  let instance = '';

  const session = openSession({
    url: 'http://schedulers',
    tenantId: tenant,
    srcLang,
    tgtLang,
    // The simulated network has no HTTP.
    fetch: () => Promise.reject(new Error('not simulated')),
    WebSocket: simulatedWebSocket({ machine, dial: world.dial, overhear }) as WebSocketConstructor,
    timings: QUICK,
    clock,
    chance,
    newRequestId() {
      named += 1;
      return `req-${client}-${named}`;
    },
  });

  function overhear(text: string, from: string): void {
    instance = from;
    if (!text.includes('"delivery_seq"')) return;
    const frame = JSON.parse(text) as Frame;
    const { session_id: heard, utterance_index: index, delivery_seq: seq } = frame;
    if (seq === undefined) return;
    const what = `${frame.type} ${frame.job_id ?? frame.reason ?? ''}`;
    record({ kind: 'delivered', client, session: heard, seq, index, what, instance });
  }

  session.on('accepted', ({ requestId: request, jobId: job, utteranceIndex: index }) => {
    if (request === undefined) return;
    record({ kind: 'accepted', client, request, job, session: session.sessionId ?? '', index, instance });
  });
  session.on('result', ({ requestId, textAsr, textTranslated: words, message }) => {
    const request =
      requestId ?? requestOf.get(words) ?? `unknown ${message.session_id}/${message.utterance_index}`;
    record({
      kind: 'outcome',
      client,
      request,
      job: message.job_id,
      result: { by: readSignature(textAsr), words },
    });
  });
  session.on('missing', ({ requestId, reason, message }) => {
    const request = requestId ?? `unknown ${message?.session_id}/${message?.utterance_index}`;
    record({ kind: 'outcome', client, request, missing: reason });
  });
  session.on('error', ({ code, isFatal }) => {
    record({ kind: 'refused', client, request: isFatal ? 'the whole session' : 'unnamed', code });
  });

  function say(): void {
    number += 1;
    const words = `${client}-${number}`;
    const audio = speak(words);
    const request = deps.how === 'pieces' ? sayInPieces(audio) : session.sendUtterance(audio);
    if (request === undefined) return;
    requestOf.set(words, request);
    record({ kind: 'asked', client, request, words, tenant, ...(pool !== undefined && { pool }) });
  }

  function sayInPieces(audio: Buffer): string | undefined {
    const piece = 2 * Math.max(1, Math.floor(audio.length / PIECES / 2));
    for (let at = 0; at < audio.length; at += piece) session.sendAudio(audio.subarray(at, at + piece));
    return session.endUtterance();
  }

  function speakUp(): void {
    clock.after(nextArrivalMs(chance, deps.perSecond), () => {
      if (!isSpeaking) return;
      say();
      speakUp();
    });
  }

  speakUp();
  return {
    machine,
    stop() {
      isSpeaking = false;
    },
    isDone: () => session.unsettledBytes === 0,
    asked: () => number,
  };
}
