/** A speaker with the client SDK, alone or in a room: reconnects after every loss, resumes, and receives every outcome once. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  openSession,
  type SessionClock,
  type SessionEvents,
  type WebSocketConstructor,
} from '@lingua/sdk/client';
import WebSocket from 'ws';
import {
  laneOf,
  partsOf,
  recordAsked,
  requestOfPart,
} from '../../../../packages/simulation/dist/clients/parts.js';
import { type PersonDeps, startPerson } from '../../../../packages/simulation/dist/clients/person.js';
import type { Part, Recorder } from '../../../../packages/simulation/dist/history.js';
import { readStamped, readVoice } from '../../../../packages/simulation/dist/stamped-text.js';
import { speak } from '../fleet/speech.ts';
import type { Tenant } from '../tenants.ts';
import { type Backend, createBalancer } from '../wire/balancer.ts';
import type { ChaosClient } from './client.ts';

export interface SpeakerOptions {
  readonly name: string;
  readonly tenant: Tenant;
  readonly recorder: Recorder;
  readonly chance: () => number;
  readonly perSecond: number;
  readonly backends: () => readonly Backend[];
  /** Whole utterances, or audio in chunks. */
  readonly how: 'whole' | 'pieces';
  /** Leaves an instance that is silent for three seconds, instead of for a minute. */
  readonly isImpatient: boolean;
  /** Absent: it speaks English for itself alone. */
  readonly inRoom?: Pick<PersonDeps, 'invitation' | 'isHost' | 'languages' | 'isRoaming'> | undefined;
  /** The target languages, of which the first is spoken, too; absent: one, as text. */
  readonly languages?: readonly string[];
}

/** Every utterance must have its outcome this long after all faults have ended. */
const SETTLE_MS = 45_000;
const QUICK = { quickMs: 50, firstMs: 100, longestMs: 1_000, openTimeoutMs: 4_000 };
const IMPATIENT = { heartbeatMs: 1_000, silenceMs: 3_000 };
const [BYTES, PIECES] = [1_200, 3];
/** Longer than a promised caption may take. */
const LISTEN_ON_MS = 32_000;

const CLOCK: SessionClock = {
  now: () => Math.round(performance.timeOrigin + performance.now()),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

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

const OUTCOMES: readonly string[] = ['translation_result', 'missing_result', 'voice_result'];

export async function startSpeaker(options: SpeakerOptions): Promise<ChaosClient> {
  const { name, recorder, chance, inRoom } = options;
  const { name: tenant, clientToken: token } = options.tenant;
  const { record } = recorder;
  const wire = await createBalancer({ backends: options.backends });
  /** Found by its words: the SDK does not know the job of an outcome whose acceptance it never received. */
  const requestOf = new Map<string, string>();
  const { languages } = options;
  const voices = languages?.slice(0, 1) ?? [];
  let isSpeaking = inRoom?.isRoaming !== true;
  let number = 0;
  let resolveOutcome: () => void = () => {};

  const session = openSession({
    url: `http://127.0.0.1:${wire.port}`,
    token,
    srcLang: inRoom?.languages[0] ?? 'en',
    ...(languages === undefined
      ? { tgtLang: inRoom?.languages[0] ?? 'zh' }
      : { tgtLangs: languages, voiceLangs: voices }),
    WebSocket: received((text) => {
      person?.overhear(text, undefined);
      const {
        type,
        session_id: said,
        utterance_index: index,
        delivery_seq: seq,
        ...rest
      } = JSON.parse(text) as Frame;
      if (seq === undefined || !OUTCOMES.includes(type)) return;
      const what = `${type} ${rest.job_id ?? rest.reason ?? ''}`;
      const kind = type === 'voice_result' || rest.part === 'voice' ? 'voice' : 'text';
      const lane = languages && { lane: laneOf(rest.tgt_lang ?? '', kind) };
      record({ kind: 'delivered', client: name, session: said, seq, index, what, ...lane });
    }),
    timings: { ...QUICK, ...(options.isImpatient ? IMPATIENT : {}) },
  });
  const person = inRoom && startPerson({ ...inRoom, client: name, session, clock: CLOCK, chance, recorder });
  session.on('open', () => resolveOutcome());
  session.on('accepted', ({ requestId: request, jobId: job }) => {
    if (request === undefined) return;
    // In a room a plan chooses its jobs.
    const own = { ...(person === undefined && { job }) };
    if (languages === undefined) record({ kind: 'accepted', client: name, request, ...own });
    else for (const part of requestsOf(request)) record({ kind: 'accepted', client: name, request: part });
  });

  const partsIn = (utterance: string): readonly Part[] =>
    partsOf(utterance, 'audio', languages ?? [], voices);
  const requestsOf = (utterance: string): readonly string[] =>
    partsIn(utterance).map((part) => requestOfPart(utterance, part));

  /** The requests that an outcome is of. Without a language it is of all. */
  function meant(utterance: string, language: string | undefined, kind: Part['kind']): readonly string[] {
    if (languages === undefined) return [utterance];
    return language === undefined ? requestsOf(utterance) : [requestOfPart(utterance, { language, kind })];
  }

  function take(
    text: string,
    kind: Part['kind'],
    {
      requestId,
      language,
      message,
    }: Pick<SessionEvents['result' | 'voice'], 'requestId' | 'language' | 'message'>,
  ): void {
    const result = readStamped(text);
    const utterance =
      requestId ?? requestOf.get(result.words) ?? `unknown ${message.session_id}/${message.utterance_index}`;
    // In a room an outcome that comes from the log does not name its job.
    const job = { ...(person === undefined && { job: message.job_id }) };
    for (const request of meant(utterance, language, kind))
      record({ kind: 'outcome', client: name, request, ...job, result });
  }
  session.on('result', (event) => take(event.textTranslated, 'text', event));
  session.on('voice', (event) =>
    take(readVoice(Buffer.from(event.ttsAudio).toString('base64')), 'voice', event),
  );
  session.on('missing', ({ requestId, language, part, reason, message }) => {
    const utterance = requestId ?? `unknown ${message?.session_id}/${message?.utterance_index}`;
    for (const request of meant(utterance, language, part))
      record({ kind: 'outcome', client: name, request, missing: reason });
  });
  session.on('error', ({ code, isFatal }) => {
    record({ kind: 'refused', client: name, request: isFatal ? 'the whole session' : 'unnamed', code });
  });

  function say(): void {
    const room = person?.room();
    if (inRoom !== undefined && room === undefined) return;
    number += 1;
    const words = `${name}-${number}`;
    const audio = speak(words, BYTES);
    const piece = BYTES / PIECES;
    if (options.how === 'pieces') {
      for (let at = 0; at < BYTES; at += piece) session.sendAudio(audio.subarray(at, at + piece));
    }
    const request = options.how === 'pieces' ? session.endUtterance() : session.sendUtterance(audio);
    if (request === undefined) return;
    requestOf.set(words, request);
    if (languages !== undefined) {
      recordAsked(recorder, partsIn(request), { client: name, words, tenant, pool: tenant });
      return;
    }
    record({
      kind: 'asked',
      client: name,
      tenant,
      pool: tenant,
      request,
      words,
      ...(room !== undefined && { room, language: inRoom?.languages[0] ?? '' }),
    });
  }

  async function speakUp(): Promise<void> {
    while (isSpeaking) {
      await sleep(((0.5 + chance()) * 1_000) / options.perSecond);
      if (isSpeaking) say();
    }
  }

  const speaking = speakUp();
  return {
    name,
    cut() {
      const isBack = new Promise<void>((resolve) => {
        resolveOutcome = resolve;
      });
      wire.cut();
      return isBack;
    },
    delay: wire.delay,
    async finish() {
      isSpeaking = false;
      person?.settle();
      await speaking;
      await Promise.race([session.settled(), sleep(SETTLE_MS, undefined, { ref: false })]);
      if (person !== undefined) await sleep(LISTEN_ON_MS);
    },
    async close() {
      await session.close();
      wire.close();
    },
  };
}

/** WebSockets that report what they receive while a listener is set. */
function received(onText: (text: string) => void): WebSocketConstructor {
  class Received extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false });
      let isReceived = true;
      this.on('message', (data) => {
        if (isReceived) onText(data.toString());
      });
      const close = this.close.bind(this);
      this.close = (...how) => {
        isReceived = false;
        close(...how);
      };
    }
  }
  return Received as unknown as WebSocketConstructor;
}
