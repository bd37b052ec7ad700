/** A session service on a stepped clock, with the real audio store, recording links and a scripted dispatcher. */
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { type Languages, type NamedLanguages, readLanguages } from '../../../src/domain/needed-directions.ts';
import type { Tenancy } from '../../../src/domain/tenancy.ts';
import type { AudioStore } from '../../../src/ports/audio-store.ts';
import type { Chance } from '../../../src/ports/chance.ts';
import {
  createSessionService,
  type SessionServiceDeps,
} from '../../../src/session/create-session-service.ts';
import type { Chunk, ClientEvent, GivenUtterance } from '../../../src/session/event.ts';
import type { SessionLink } from '../../../src/session/output.ts';
import { type Opening, SESSION_ABILITIES, type Speech } from '../../../src/session/session.ts';
import type { SessionService } from '../../../src/session/session-service.ts';
import { NO_POOLS, type Pools } from '../../../src/session/speech/preferred-pool.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createRecordingLink, type RecordingLink } from './recording-link.ts';
import { createScriptedDispatcher, type ScriptedDispatcher } from './scripted-dispatcher.ts';
import { createScriptedPlans, type ScriptedPlans } from './scripted-plans.ts';
import { CUTTING } from './spoken-stream.ts';

export const SETTINGS: SessionServiceDeps['settings'] = {
  coreServices: {},
  segmentation: { ...CUTTING, maxBytes: 100_000 },
  paddingAutoMs: 220,
  paddingManualMs: 280,
  delivery: {
    gapTimeoutMs: 10_000,
    gapMaxMs: 30_000,
    maxPendingResults: 32,
    maxPendingBytes: 1_000_000,
    maxResultBytes: 1_000_000,
    maxKeptResults: 256,
  },
  group: { windowMs: 2_000, maxParts: 8, maxChars: 800 },
  // High, so that only its own tests reach it.
  pressure: { slowDownShare: 5, pauseShare: 8, resumeAfterMs: 2_000 },
  resumeTtlMs: 60_000,
  pendingTimeoutMs: 10_000,
  jobDeadlineMs: 90_000,
  maxSessions: 100,
  maxResultBytesTotal: 10_000_000,
  maxUtterances: 32,
  maxAudioBytes: 1_000_000,
  indexBase: 'time',
  maxWaiting: 100,
};

export const PRESSURE = { slowDownShare: 0.5, pauseShare: 0.8, resumeAfterMs: 2_000 };

export function languages(named: NamedLanguages): Languages {
  const read = readLanguages(named);
  if (read.kind !== 'languages') throw new Error(read.message);
  return read.languages;
}

export const speech = (overrides: Partial<Speech> = {}): Speech => ({
  languages: languages({ src_lang: 'en', tgt_lang: 'zh' }),
  audioFormat: 'pcm16',
  sampleRate: 16_000,
  ...overrides,
});

/** Of a client with all extensions. */
export const opening = (overrides: Partial<Opening> = {}): Opening => ({
  tenantId: 'default',
  credential: 'anybody',
  abilities: new Set<string>(SESSION_ABILITIES),
  speech: speech(),
  traceId: 'trace-of-session',
  platform: 'web',
  ...overrides,
});

/** Of a legacy client: without extensions. */
export const legacyOpening = (overrides: Partial<Opening> = {}): Opening =>
  opening({ abilities: undefined, ...overrides });

/** Without other instances `open` is synchronous. */
export function openNow(service: SessionService, given: Opening, link: SessionLink): string {
  const opened = service.open(given, link);
  if (opened instanceof Promise || opened.kind !== 'opened') throw new Error('the session was not opened');
  return opened.sessionId;
}

export interface Client {
  readonly sessionId: string;
  readonly link: RecordingLink;
  readonly opening: Opening;
  send(event: ClientEvent): 'taken' | 'unknown';
  /** The next chunk of its stream. */
  say(text: string, more?: Partial<Chunk>): void;
  /** A final chunk with its own request id, so that there is no hangover. */
  speak(text: string): void;
  utter(text: string, more?: Partial<GivenUtterance>): void;
  /** The connection breaks. */
  leave(): void;
  /** Resumes on another connection. */
  resume(more?: Partial<Opening>): Client;
}

export interface SessionRig {
  readonly clock: ManualClock;
  readonly audio: AudioStore;
  readonly dispatcher: ScriptedDispatcher;
  readonly plans: ScriptedPlans;
  /** Jobs whose results the clients have for good. */
  readonly delivered: readonly string[];
  readonly service: SessionService;
  /** By name, with the values of the labels. */
  readonly counts: ReadonlyMap<string, number>;
  /** Name and label values → seconds, of each observation. */
  readonly observed: readonly (readonly [name: string, seconds: number])[];
  open(opening?: Opening): Client;
}

export interface RigOptions {
  readonly isSplittable?: SessionServiceDeps['isSplittable'];
  readonly voiceInRoom?: SessionServiceDeps['voiceInRoom'];
  readonly settings?: Partial<SessionServiceDeps['settings']>;
  readonly audioBytes?: number;
  readonly pools?: Pools;
  readonly chance?: Chance;
  readonly tenancy?: Tenancy;
}

export function createSessionRig(options: RigOptions = {}): SessionRig {
  const clock = createManualClock();
  const audio = createAudioStore({ maxBytes: options.audioBytes ?? 10_000_000, maxBytesPerJob: 5_000_000 });
  const counts = new Map<string, number>();
  const observed: [name: string, seconds: number][] = [];
  const dispatcher = createScriptedDispatcher({ clock, audio, moved: (job) => service.jobMoved(job) });
  const plans = createScriptedPlans();
  const delivered: string[] = [];
  const service = createSessionService({
    clock,
    audio,
    chance: options.chance ?? (() => 0.5),
    ids: createIdSource({ clock, digestsRequests: true }),
    meter: {
      count(name, labels, by = 1) {
        const key = [name, ...Object.values(labels ?? {})].join(' ');
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      gauge() {},
      observe: (name, value, labels) =>
        void observed.push([[name, ...Object.values(labels ?? {})].join(' '), value]),
    },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    jobs: dispatcher,
    plans,
    isSplittable: options.isSplittable,
    voiceInRoom: options.voiceInRoom,
    delivered: (jobId) => void delivered.push(jobId),
    pools: options.pools ?? NO_POOLS,
    tenancy: options.tenancy,
    settings: { ...SETTINGS, ...options.settings },
  });
  let seq = 0;
  let requests = 0;

  function open(given: Opening = opening()): Client {
    const link = createRecordingLink();
    const sessionId = openNow(service, given, link);
    const send = (event: ClientEvent) => service.receive(sessionId, given.credential, event);
    const say = (text: string, more: Partial<Chunk> = {}): void => {
      const audioOfIt = text === '' ? undefined : Buffer.from(text);
      send({ kind: 'chunk', seq: seq++, audio: audioOfIt, isFinal: false, ...more });
    };
    return {
      sessionId,
      link,
      opening: given,
      send,
      say,
      speak: (text) => say(text, { isFinal: true, requestId: `req-${requests++}` }),
      utter(text, more = {}) {
        const audioOfIt = Buffer.from(text);
        const source = { kind: 'held', bytes: audioOfIt.length } as const;
        const plain = { index: 0, isManualCut: true, speech: given.speech, source, audio: audioOfIt };
        send({ kind: 'utterance', ...plain, ...more });
      },
      leave: () => service.left(sessionId, link),
      resume(more = {}) {
        const token = link.token() ?? given.resume?.token ?? '';
        return open({ ...given, resume: { sessionId, token }, ...more });
      },
    };
  }

  return { clock, audio, dispatcher, plans, delivered, service, counts, observed, open };
}
