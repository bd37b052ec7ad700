/** Hot path: all that is known of one session. Only the steps of its own mailbox change it. */
import type { JobId, NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { Languages } from '../domain/needed-directions.ts';
import type { Cancel } from '../ports/clock.ts';
import type { SessionEvent } from './event.ts';
import type { SentPressure } from './outcomes/backpressure.ts';
import { createDelivery, type Deliverable, type Delivery } from './outcomes/delivery.ts';
import type { SessionLink } from './output.ts';
import { type Groups, NO_GROUPS } from './speech/groups.ts';
import type { PoolChoice } from './speech/preferred-pool.ts';
import { type Segmentation, SILENT } from './speech/segmentation.ts';

/** What the client may understand beyond what is legacy. */
export const SESSION_ABILITIES = [
  'result_ack',
  'utterance_accepted',
  'backpressure',
  'server_draining',
] as const;
export type SessionAbility = (typeof SESSION_ABILITIES)[number];

/** How speech is described: by session_init for its chunks, by an utterance for itself. */
export interface Speech {
  readonly languages: Languages;
  readonly mode?: string | undefined;
  readonly dialect?: string | undefined;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  readonly enableStreamingAsr?: boolean | undefined;
  readonly partialUpdateIntervalMs?: number | undefined;
  readonly audioFormat: string;
  readonly sampleRate: number;
}

export interface Resume {
  readonly sessionId: SessionId;
  readonly token: string;
  /** Of the outcomes it has received; absent: none, or it does not say. */
  readonly receivedSeq?: number | undefined;
}

/** What a client asks for when it opens a session. */
export interface Opening {
  readonly tenantId: TenantId;
  /** Who opened it; whoever else speaks for the session must be the same. */
  readonly credential: string;
  /** Absent: a legacy client. */
  readonly abilities: ReadonlySet<string> | undefined;
  readonly speech: Speech;
  readonly traceId: string;
  readonly platform: string;
  readonly resume?: Resume | undefined;
  /** For the person at the client. */
  readonly warning?: string | undefined;
}

/** One accepted utterance. */
export interface Utterance extends Deliverable {
  readonly index: number;
  /** The job that does it; a repeated request may find another one doing it already. */
  jobId: JobId;
  readonly traceId: string;
  /** As the client named it. */
  readonly requestId: string | undefined;
  readonly groupId: string;
  readonly partIndex: number;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  /** Its first sound, as far as is known here. */
  readonly startedAt: number;
  readonly acceptedAt: number;
  /** Audio of it that counts against the session. */
  audioBytes: number;
  /** Its job is recorded, or will never be: the client may be told that it was accepted. */
  isAdmitted: boolean;
  /** The client knows that it was accepted. */
  isAnnounced: boolean;
  /** The name of its job as other instances would find it. */
  savedJobId: JobId | undefined;
  /** Other instances know that it is to have no translation. */
  isMissingSaved: boolean;
  /** Accepted by another instance, which has or had the audio; sent again it is needed here. */
  isAudioElsewhere: boolean;
  /** It was counted where it was accepted. */
  readonly hadOutcome: boolean;
  /** A node has had it. */
  isPlaced: boolean;
  /** The node whose attempt counts. */
  nodeId: NodeId | undefined;
  /** Nobody waits for it any more; a job of it that turns up later is cancelled. */
  isAbandoned: boolean;
  /** Another instance waits for it now: whatever comes of it is not heard here, and nothing is cancelled. */
  isHandedOver: boolean;
  /** Bits of the ui_events that were told: each at most once, whatever retries there are. */
  sentUiEvents: number;
}

/** Chunks of one utterance that came again so far, in order. */
export interface ResentAudio {
  readonly utterance: Utterance;
  readonly chunks: Buffer[];
  bytes: number;
  lastSeq: number;
}

/** How urgently others must be told what of it changed. */
export type Unsaved = 'nothing' | 'later' | 'soon' | 'now';

export interface Session {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly openedAt: number;
  /** Of the token that proves the right to resume; absent: it cannot be resumed. */
  readonly resumeDigest: string | undefined;
  opening: Opening;
  /** Other instances can go on with it: nothing is told that they would not know of. */
  isShared: boolean;
  /** Of what was last written for them. */
  revision: number;
  /** What has changed since: not at all, nothing that hurries, or something that a client waits to be told. */
  unsaved: Unsaved;
  /** Absent: no client is connected. */
  link: SessionLink | undefined;
  /** Without a client: when it is given up. */
  expiresAt: number | undefined;
  segmentation: Segmentation;
  /** Names for the utterance that is being spoken. */
  draft: { readonly jobId: JobId; readonly traceId: string } | undefined;
  nextIndex: number;
  /** Highest chunk received; chunks repeated after a resume are below it. */
  lastSeq: number;
  /** Of the last utterance that was cut: what came after it is here alone. */
  sealedSeq: number;
  /** Audio of an utterance of another instance that is being sent again. */
  resentAudio: ResentAudio | undefined;
  /** The first chunk there was no room for: what comes behind it waits for it. */
  refused: { readonly seq: number; readonly at: number } | undefined;
  readonly delivery: Delivery<Utterance>;
  /** Highest outcome told on this connection, of those that are acknowledged. */
  sentSeq: number;
  /** Utterances without outcome. */
  running: number;
  /** Of them, those that no node has yet. */
  unplaced: number;
  /** Being collected, or held for jobs. */
  audioBytes: number;
  groups: Groups;
  /** The last delivered utterance of each group that may be played. */
  readonly playable: Map<string, Utterance>;
  /** Of utterances that named their request: a repeat is the same utterance. */
  readonly requests: Map<string, Utterance>;
  pool: PoolChoice | undefined;
  sentPressure: SentPressure | undefined;
  webToSchedulerMs: number | undefined;
  /** `draining`: it should move to another instance. `closing`: it ends with its last outcome. */
  phase: 'open' | 'draining' | 'closing' | 'ended';
  isHandlingEvents: boolean;
  readonly queued: SessionEvent[];
  wake: { readonly at: number; readonly cancel: Cancel } | undefined;
}

export function createSession(
  sessionId: SessionId,
  opening: Opening,
  given: { at: number; firstIndex: number; resumeDigest: string | undefined; isShared: boolean },
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
    nextIndex: given.firstIndex,
    lastSeq: -1,
    sealedSeq: -1,
    resentAudio: undefined,
    refused: undefined,
    delivery: createDelivery(),
    sentSeq: 0,
    running: 0,
    unplaced: 0,
    audioBytes: 0,
    groups: NO_GROUPS,
    playable: new Map(),
    requests: new Map(),
    pool: undefined,
    sentPressure: undefined,
    webToSchedulerMs: undefined,
    phase: 'open',
    isHandlingEvents: false,
    queued: [],
    wake: undefined,
  };
}

/** In the field: no extension is understood, errors are shown as alerts, finals overtake audio. */
export const isLegacy = ({ opening }: Session): boolean => opening.abilities === undefined;

export const understands = ({ opening }: Session, ability: SessionAbility): boolean =>
  opening.abilities?.has(ability) === true;
