/** Hot path: the state of one session. Only the steps of its own event queue change it. */
import { type BoundedMap, createBoundedMap } from '../domain/bounded-map.ts';
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { Language } from '../domain/language.ts';
import type { Languages } from '../domain/needed-directions.ts';
import type { PartKind, WantedTarget } from '../domain/plan.ts';
import type { Region } from '../domain/region.ts';
import type { Cancel } from '../ports/clock.ts';
import type { SessionEvent } from './event.ts';
import type { SentPressure } from './outcomes/backpressure.ts';
import { createDelivery, type Deliverable, type Delivery } from './outcomes/delivery.ts';
import type { SessionLink, SessionOutput } from './output.ts';
import { type Groups, NO_GROUPS } from './speech/groups.ts';
import type { Interim } from './speech/interim.ts';
import type { PoolChoice } from './speech/preferred-pool.ts';
import { type Segmentation, SILENT } from './speech/segmentation.ts';
import type { UtteranceState } from './utterance-state.ts';

/** Protocol extensions that a client may support; a legacy client supports none. */
export const SESSION_ABILITIES = [
  'result_ack',
  'utterance_accepted',
  'backpressure',
  'server_draining',
] as const;
export type SessionAbility = (typeof SESSION_ABILITIES)[number];

/** Description of speech: session_init describes all chunks, a whole utterance describes itself. */
export interface Speech {
  readonly languages: Languages;
  /** The client wants several languages, each with its own outcome. Absent: the target of `languages`. */
  readonly targets?: readonly WantedTarget[] | undefined;
  readonly mode?: string | undefined;
  readonly dialect?: string | undefined;
  readonly glossaryId?: string | undefined;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  readonly enableStreamingAsr?: boolean | undefined;
  readonly partialUpdateIntervalMs?: number | undefined;
  readonly audioFormat: string;
  readonly sampleRate: number;
}

export interface Resume {
  readonly sessionId: SessionId;
  readonly token: string;
  /** Number of the last outcome that the client received; absent: none, or the client does not report it. */
  readonly receivedSeq?: number | undefined;
}

/** The request of a client that opens a session. */
export interface Opening {
  readonly tenantId: TenantId;
  /** Credential of the connection that opened it. Other connections of the session need the same one. */
  readonly credential: string;
  /** Absent: a legacy client. */
  readonly abilities: ReadonlySet<string> | undefined;
  readonly speech: Speech;
  readonly traceId: string;
  readonly platform: string;
  /** Nodes near it are preferred; absent: the region of the instance. */
  readonly region?: Region | undefined;
  readonly resume?: Resume | undefined;
  /** Shown to the user of the client. */
  readonly warning?: string | undefined;
}

/** What the outcomes of one utterance in several languages share. */
export interface SharedPlan {
  /** Its jobs are bound to request ids with this name, so that a repeated plan finds them. */
  readonly name: string;
  readonly source: Language;
  /** One for each outcome. The first reports the acceptance and the progress of the utterance, and counts for it. */
  readonly utterances: Utterance[];
  /** Jobs that work or worked on it, as far as this instance knows. */
  readonly jobIds: Set<JobId>;
  /** Outcomes that the client does not have for good yet. */
  undelivered: number;
  /** The client has acknowledged an outcome without a result. */
  hasMissing: boolean;
}

/** One wanted outcome of an utterance that several jobs serve: the text or the voice of a language, or both. */
export interface Rendition {
  readonly language: Language;
  readonly kind: PartKind;
  /** The only outcome of its utterance: the text, and the voice if one is wanted. */
  readonly isWhole?: boolean | undefined;
  readonly plan: SharedPlan;
  /** The job of the outcome. */
  jobId: JobId | undefined;
  /** The client got an error for it. */
  hasFailed: boolean;
}

/** One accepted utterance; of an utterance in several languages, one of its outcomes. */
export interface Utterance extends Deliverable, UtteranceState {
  /** Absent: the utterance has one job and one outcome. */
  rendition?: Rendition | undefined;
  readonly index: number;
  /** Its job. A repeated request may find that another job translates it already; then this id changes. */
  jobId: JobId;
  readonly traceId: string;
  /** The request id that the client gave it. */
  readonly requestId: string | undefined;
  readonly groupId: string;
  readonly partIndex: number;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  /** Time of its first audio, as far as this instance knows it. */
  readonly startedAt: number;
  readonly acceptedAt: number;
  /** Bytes of its audio that count against the session's limit. */
  audioBytes: number;
  /** The job id in the saved state, which other instances read. */
  savedJobId: JobId | undefined;
  /** The saved state says that it has no translation. */
  isMissingSaved: boolean;
  /** Another instance accepted it and has or had the audio; if the client sends the audio again, this instance uses it. */
  isAudioElsewhere: boolean;
  /** It was settled before the handover; the instance that accepted it has counted the outcome. */
  readonly wasSettledBefore: boolean;
  /** A node has received it. */
  isPlaced: boolean;
  /** Bits of the ui_events that were sent. Each is sent at most once, also when the job is retried. */
  sentUiEvents: number;
}

/** Chunks of one utterance that the client has sent again so far, in order. */
export interface ResentAudio {
  readonly utterance: Utterance;
  readonly chunks: Buffer[];
  bytes: number;
  lastSeq: number;
}

/** How urgently the changes of a session must be saved for other instances. */
export type Unsaved = 'nothing' | 'later' | 'soon' | 'now';

export interface Session {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly openedAt: number;
  /** Digest of the token that proves the right to resume; absent: it cannot be resumed. */
  readonly resumeDigest: string | undefined;
  opening: Opening;
  /** Other instances can resume it, so nothing is sent to the client that the saved state does not contain. */
  isShared: boolean;
  /** Revision of the last saved state. */
  revision: number;
  /** The most urgent change since the last save; `now`: the client waits for it. */
  unsaved: Unsaved;
  /** Absent: no client is connected. */
  link: SessionLink | undefined;
  /** Without a client: when the session ends. */
  expiresAt: number | undefined;
  segmentation: Segmentation;
  /** Ids of the utterance whose audio is arriving. */
  draft: { readonly jobId: JobId; readonly traceId: string } | undefined;
  /** As it was last reported: an utterance has begun and not ended. */
  isSpeaking: boolean;
  nextIndex: number;
  /** Least index of an utterance cut from audio chunks. An utterance that the client numbers keeps its number. */
  readonly leastCutIndex: number;
  /** Highest chunk received; chunks repeated after a resume are below it. */
  lastSeq: number;
  /** Last chunk of the last sealed utterance: only this instance has the chunks after it. */
  sealedSeq: number;
  /** Audio of an utterance that another instance accepted and that the client is sending again. */
  resentAudio: ResentAudio | undefined;
  /** The first chunk that did not fit the audio budget: later chunks are refused until the client sends it again. */
  refused: { readonly seq: number; readonly at: number } | undefined;
  /** Errors of refused utterances by their last chunk: a client that missed the error sends the chunk again. */
  readonly refusals: BoundedMap<number, SessionOutput>;
  readonly delivery: Delivery<Utterance>;
  /** Number of the last outcome sent on this connection, for clients that acknowledge outcomes. */
  sentSeq: number;
  /** Number of the last outcome in the saved state. */
  savedSeq: number;
  /** Number of utterances without an outcome. */
  running: number;
  /** Number of those that no node has received yet. */
  unplaced: number;
  /** Bytes that are collected from chunks or held for jobs. */
  audioBytes: number;
  /** The text so far of the open utterance, while its speaker goes on. */
  interim: Interim | undefined;
  groups: Groups;
  /** The last delivered utterance of each group that the client may play. */
  readonly playable: BoundedMap<string, Utterance>;
  /** Utterances by request id: a repeated request is the same utterance. */
  readonly requests: Map<string, Utterance>;
  pool: PoolChoice | undefined;
  sentPressure: SentPressure | undefined;
  webToSchedulerMs: number | undefined;
  /** `draining`: the client should connect to another instance. `closing`: it ends with its last outcome. */
  phase: 'open' | 'draining' | 'closing' | 'ended';
  /** An operator ends it: its connection ends with it. */
  isCloseOrdered: boolean;
  isHandlingEvents: boolean;
  readonly queued: SessionEvent[];
  wake: { readonly at: number; readonly cancel: Cancel } | undefined;
}

/** Groups whose playback may still be reported. */
const MAX_PLAYABLE = 8;
const MAX_REFUSALS = 16;

export function createSession(
  sessionId: SessionId,
  opening: Opening,
  given: {
    at: number;
    firstIndex: number;
    leastCutIndex?: number;
    resumeDigest: string | undefined;
    isShared: boolean;
  },
): Session {
  return {
    sessionId,
    tenantId: opening.tenantId,
    openedAt: given.at,
    resumeDigest: given.resumeDigest,
    opening,
    isShared: given.isShared,
    revision: 0,
    unsaved: 'nothing',
    link: undefined,
    expiresAt: undefined,
    segmentation: SILENT,
    draft: undefined,
    isSpeaking: false,
    nextIndex: given.firstIndex,
    leastCutIndex: given.leastCutIndex ?? 0,
    lastSeq: -1,
    sealedSeq: -1,
    resentAudio: undefined,
    refused: undefined,
    refusals: createBoundedMap({ max: MAX_REFUSALS }),
    delivery: createDelivery(),
    sentSeq: 0,
    savedSeq: 0,
    running: 0,
    unplaced: 0,
    audioBytes: 0,
    interim: undefined,
    groups: NO_GROUPS,
    playable: createBoundedMap({ max: MAX_PLAYABLE }),
    requests: new Map(),
    pool: undefined,
    sentPressure: undefined,
    webToSchedulerMs: undefined,
    phase: 'open',
    isCloseOrdered: false,
    isHandlingEvents: false,
    queued: [],
    wake: undefined,
  };
}

/** The utterance has one outcome, or this is the first of several. */
export const isFirst = (utterance: Utterance): boolean =>
  utterance.rendition === undefined || utterance.rendition.plan.utterances[0] === utterance;

/** Its client wants several languages, and each outcome names its own. */
export const isOneOfSeveral = ({ rendition }: Pick<Utterance, 'rendition'>): boolean =>
  rendition !== undefined && rendition.isWhole !== true;

/** All outcomes of the same utterance. */
export const allOf = (utterance: Utterance): readonly Utterance[] =>
  utterance.rendition?.plan.utterances ?? [utterance];

/** The job that a client sees. */
export const jobIdOf = ({ jobId, rendition }: Utterance): JobId => rendition?.jobId ?? jobId;

export const nextCutIndex = ({ nextIndex, leastCutIndex }: Session): number =>
  Math.max(nextIndex, leastCutIndex);

/** For a text that is no outcome of this session, so that no outcome has the same index. */
export function takeIndex(session: Session | undefined): number | undefined {
  if (session === undefined) return undefined;
  const index = nextCutIndex(session);
  session.nextIndex = index + 1;
  return index;
}

/** A legacy client supports no extension, shows errors as alerts, and its finals overtake its audio. */
export const isLegacy = ({ opening }: Session): boolean => opening.abilities === undefined;

export const understands = ({ opening }: Session, ability: SessionAbility): boolean =>
  opening.abilities?.has(ability) === true;
