/** Simulation: a speaker that uses the real client SDK over the simulated network, alone or in a room. */
import { openSession, type SessionEvents, type WebSocketConstructor } from '@lingua/sdk/client';
import type { Part } from '../history.ts';
import { speak } from '../speech.ts';
import { readStamped, readVoice } from '../stamped-text.ts';
import { type ClientDeps, nextArrivalMs, type SimulatedClient } from './client-world.ts';
import { laneOf, partsOf, recordAsked, requestOfPart } from './parts.ts';
import { type PersonDeps, startPerson } from './person.ts';
import { simulatedWebSocket } from './simulated-web-socket.ts';

interface Frame {
  readonly type: string;
  readonly session_id: string;
  readonly utterance_index: number;
  readonly delivery_seq?: number;
  readonly job_id?: string;
  readonly reason?: string;
  readonly tgt_lang?: string;
  readonly part?: 'voice';
}

const QUICK = { quickMs: 50, firstMs: 100, longestMs: 1_000, openTimeoutMs: 4_000 };
/** Utterances must be this far apart, or the SDK has too many in flight and takes no more. */
const PIECES = 3;

/** `how`: whole utterances, or audio in chunks. With several target languages, the first of them is spoken. */
export function startSpeaker(
  deps: Omit<ClientDeps, 'languages'> & {
    readonly languages: readonly [string, ...string[]];
    readonly how: 'whole' | 'pieces';
    /** Absent: it speaks for itself alone. */
    readonly inRoom?: Pick<PersonDeps, 'invitation' | 'isHost' | 'languages' | 'isRoaming'> | undefined;
  },
): SimulatedClient {
  const { machine, world, chance, tenant, pool, inRoom } = deps;
  const { clock, name: client } = machine;
  const { recorder } = world;
  const { record } = recorder;
  /** Found by its words: the SDK does not know the job of an outcome whose acceptance it never received. */
  const requestOf = new Map<string, string>();
  const [srcLang, ...targets] = deps.languages;
  const isMany = targets.length > 1;
  const voices = isMany ? targets.slice(0, 1) : [];
  let isSpeaking = inRoom?.isRoaming !== true;
  let number = 0;
  let named = 0;
  /** The instance that sent the last message. */
  let instance = '';

  const session = openSession({
    url: 'http://schedulers',
    tenantId: tenant,
    srcLang,
    tgtLang: targets[0],
    ...(isMany && { tgtLangs: targets, voiceLangs: voices }),
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

  const person = inRoom && startPerson({ ...inRoom, client, session, clock, chance, recorder });

  function overhear(text: string, from: string): void {
    instance = from;
    person?.overhear(text, from);
    if (!text.includes('"delivery_seq"')) return;
    const frame = JSON.parse(text) as Frame;
    const { session_id: heard, utterance_index: index, delivery_seq: seq } = frame;
    if (seq === undefined) return;
    const what = `${frame.type} ${frame.job_id ?? frame.reason ?? ''}`;
    const isVoice = frame.type === 'voice_result' || frame.part === 'voice';
    const lane = isMany && { lane: laneOf(frame.tgt_lang ?? '', isVoice ? 'voice' : 'text') };
    record({ kind: 'delivered', client, session: heard, seq, index, what, instance, ...lane });
  }

  const partsIn = (utterance: string): readonly Part[] => partsOf(utterance, 'audio', targets, voices);

  session.on('accepted', ({ requestId, jobId: job, utteranceIndex: index }) => {
    if (requestId === undefined) return;
    const about = { kind: 'accepted', client, session: session.sessionId ?? '', index, instance } as const;
    // In a room a plan chooses its jobs.
    if (person !== undefined) record({ ...about, request: requestId });
    else if (!isMany) record({ ...about, request: requestId, job });
    else
      for (const part of partsIn(requestId))
        record({
          ...about,
          request: requestOfPart(requestId, part),
          lane: laneOf(part.language, part.kind),
        });
  });

  /** The requests that an outcome is of. Without a language it is of all. */
  function meant(utterance: string, language: string | undefined, kind: Part['kind']): readonly string[] {
    if (!isMany) return [utterance];
    const all = partsIn(utterance).map((part) => requestOfPart(part.utterance, part));
    return language === undefined ? all : [requestOfPart(utterance, { language, kind })];
  }

  function take(
    text: string,
    kind: Part['kind'],
    {
      requestId,
      language,
      message,
    }: Pick<SessionEvents['result'], 'requestId' | 'language'> & {
      readonly message: Pick<SessionEvents['result']['message'], 'session_id' | 'utterance_index' | 'job_id'>;
    },
  ): void {
    const result = readStamped(text);
    const utterance =
      requestId ?? requestOf.get(result.words) ?? `unknown ${message.session_id}/${message.utterance_index}`;
    for (const request of meant(utterance, language, kind))
      record({
        kind: 'outcome',
        client,
        request,
        // In a room an outcome that comes from the log does not name its job.
        ...(person === undefined && { job: message.job_id }),
        result,
      });
  }

  session.on('result', (event) => take(event.textTranslated, 'text', event));
  session.on('voice', (event) =>
    take(readVoice(Buffer.from(event.ttsAudio).toString('base64')), 'voice', event),
  );
  session.on('missing', ({ requestId, language, part, reason, message }) => {
    const utterance = requestId ?? `unknown ${message?.session_id}/${message?.utterance_index}`;
    for (const request of meant(utterance, language, part))
      record({ kind: 'outcome', client, request, missing: reason });
  });
  session.on('error', ({ code, isFatal }) => {
    record({ kind: 'refused', client, request: isFatal ? 'the whole session' : 'unnamed', code });
  });

  function say(): void {
    const room = person?.room();
    if (person !== undefined && room === undefined) return;
    number += 1;
    const words = `${client}-${number}`;
    const audio = speak(words);
    const request = deps.how === 'pieces' ? sayInPieces(audio) : session.sendUtterance(audio);
    if (request === undefined) return;
    requestOf.set(words, request);
    if (isMany) recordAsked(recorder, partsIn(request), { client, words, tenant, pool });
    else
      record({
        kind: 'asked',
        client,
        request,
        words,
        tenant,
        ...(pool !== undefined && { pool }),
        ...(room !== undefined && { room, language: srcLang }),
      });
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
      person?.settle();
    },
    isDone: () => session.unsettledBytes === 0,
    asked: () => number,
  };
}
