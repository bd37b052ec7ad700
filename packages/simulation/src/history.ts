/**
 * The history of a run: what nodes and clients saw, and which faults began and ended, in one list on one clock. The checker knows
 * nothing else.
 */

/** One execution of a job. */
export interface Run {
  readonly node: string;
  readonly job: string;
  readonly attempt: number;
}

/** What one run did to a text. */
export interface WorkStep extends Run {
  /** Joined by `+`. */
  readonly stages: string;
  /** Language of the text that it made. */
  readonly to: string;
}

/** A request for several languages is one request per text and per voice; each has an outcome. */
export interface Part {
  readonly utterance: string;
  readonly language: string;
  readonly kind: 'text' | 'voice';
  /** Whether the utterance is spoken or typed. */
  readonly input: 'audio' | 'text';
}

/** A node is one process: at `node_down` its jobs are gone. */
export type NodeHistoryEvent =
  | {
      readonly kind: 'node_up';
      readonly node: string;
      readonly slots: number;
      readonly style: string;
      /** The node acknowledges jobs, and its acknowledgements are recorded. */
      readonly acknowledges?: boolean;
      /** The strict pool it belongs to, if there are strict pools. */
      readonly pool?: string;
      /** The stages it has, if it takes jobs of some of them; absent: it takes whole jobs only. */
      readonly stages?: string;
    }
  | { readonly kind: 'node_down'; readonly node: string }
  /** The assignment arrived. `instance` is known if it came over a socket. */
  | ({ readonly kind: 'assigned'; readonly instance?: string } & Run)
  | ({ readonly kind: 'started' } & Run)
  /** The node has the input of a job: what it contains, and what the job does to it. */
  | ({
      readonly kind: 'understood';
      readonly words: string;
      readonly stages: string;
      readonly from: string;
      readonly to: string;
    } & Run)
  /** The node sent its acknowledgement. */
  | ({ readonly kind: 'acknowledged' } & Run)
  /** The node told the texts of a job whose voice it is making. */
  | ({ readonly kind: 'told' } & Run)
  | ({ readonly kind: 'ended'; readonly how: 'done' | 'failed' | 'cancelled' } & Run)
  /** The node had no free slot. */
  | ({ readonly kind: 'turned_away' } & Run)
  | { readonly kind: 'cancel_received'; readonly node: string; readonly job: string };

export type ClientHistoryEvent =
  /** The first try of a request. `words` is the speech: the translation must contain the same words. */
  | {
      readonly kind: 'asked';
      readonly client: string;
      readonly request: string;
      readonly words: string;
      /** Request ids belong to the tenant: two tenants may use the same one. A client has one tenant. */
      readonly tenant?: string;
      /** The strict pool to which its tenant is confined. */
      readonly pool?: string;
      /** How long the client waits for an answer; absent: it does not wait. */
      readonly waitMs?: number;
      readonly part?: Part;
      /** It was said in this room. */
      readonly room?: string;
      /** Which was spoken, if it was said in a room. */
      readonly language?: string;
    }
  /** `askedAt`: when this try was sent. Unknown in sessions. */
  | {
      readonly kind: 'accepted';
      readonly client: string;
      readonly request: string;
      /** Absent: of a part. A plan chooses its jobs. */
      readonly job?: string;
      readonly askedAt?: number;
      /** The instance that answered, where that is known. */
      readonly instance?: string;
      /** In a session: the index of the utterance. */
      readonly session?: string;
      readonly index?: number;
      readonly lane?: string;
    }
  | {
      readonly kind: 'refused';
      readonly client: string;
      readonly request: string;
      readonly code: string;
      readonly askedAt?: number;
      readonly instance?: string;
    }
  | {
      readonly kind: 'unanswered';
      readonly client: string;
      readonly request: string;
      readonly why: string;
      readonly askedAt: number;
    }
  /** What the client takes for the outcome. */
  | {
      readonly kind: 'outcome';
      readonly client: string;
      readonly request: string;
      readonly job?: string;
      readonly result?: DeliveredResult;
      /** Why there is no translation. */
      readonly missing?: string;
    }
  /** An outcome as a session received it, repeats included. */
  | {
      readonly kind: 'delivered';
      readonly client: string;
      readonly session: string;
      readonly seq: number;
      readonly index: number;
      /** In a session with several languages: the text or voice whose order counts. */
      readonly lane?: string;
      readonly what: string;
      /** The instance that sent it, where that is known. */
      readonly instance?: string;
    }
  /** It was never accepted, and the client has stopped trying. */
  | { readonly kind: 'abandoned'; readonly client: string; readonly request: string }
  /** The client has left for good, without closing anything: nothing can be delivered to it. */
  | { readonly kind: 'client_left'; readonly client: string }
  /** A client read a job of another tenant. */
  | {
      readonly kind: 'peeked';
      readonly client: string;
      readonly tenant: string;
      readonly job: string;
      /** Which endpoint it used, where there are several. */
      readonly how?: string;
      readonly didSee: boolean;
    }
  /** It asked to enter a room, or to hear another language there. From here on the language is heard, until `room_left`. */
  | {
      readonly kind: 'room_wanted';
      readonly client: string;
      readonly room: string;
      readonly language: string;
    }
  /** It is in the room, for the first time or after its connection broke. Until `room_lost` captions are sent to it. */
  | {
      readonly kind: 'room_entered';
      readonly client: string;
      readonly room: string;
      /** Its name in the room: the session. */
      readonly member: string;
      /** The instance that sent it, where that is known. */
      readonly instance?: string;
    }
  /** Its connection broke. */
  | { readonly kind: 'room_lost'; readonly client: string; readonly room: string }
  /** It is out of the room until it asks again. */
  | {
      readonly kind: 'room_left';
      readonly client: string;
      readonly room: string;
      /** `left`, or why the scheduler put it out. */
      readonly why: string;
    }
  /** A caption as a member received it, repeats included. */
  | {
      readonly kind: 'captioned';
      readonly client: string;
      readonly room: string;
      /** Number of the utterance in the room. */
      readonly seq: number;
      /** Who said it, by its name in the room. */
      readonly speaker?: string;
      /** That the member hears. */
      readonly language: string;
      readonly isFinal: boolean;
      readonly result: DeliveredResult;
      /** Why there is no translation. */
      readonly missing?: string;
      readonly instance?: string;
    }
  /** It tried the code of a room of another tenant. */
  | {
      readonly kind: 'room_tried';
      readonly client: string;
      readonly tenant: string;
      readonly room: string;
      readonly didEnter: boolean;
    };

export interface DeliveredResult {
  /** The run of the last step. Undefined: the text has no signature. */
  readonly by: Run | undefined;
  readonly words: string;
  /** In their order. */
  readonly steps?: readonly WorkStep[];
}

/** Faults of real processes. */
export type RealFaultKind =
  | 'instance_killed'
  | 'instance_frozen'
  | 'instance_restarted'
  /** The instance reaches no part of the store, or not the part with its presence; the other instances reach all of it. */
  | 'instance_cut_off'
  /** Its clock is wrong from its start on. */
  | 'clock_set'
  /** Its connections to the store break; it may reconnect at once. */
  | 'store_cut'
  /** Every message between the instance and the store takes longer. */
  | 'store_slow'
  /** Hash slots move from one master to another, while both serve. */
  | 'slots_moved'
  /** A master ends or hangs, and another one takes its place: what was not replicated is lost. */
  | 'master_killed'
  | 'master_frozen'
  | 'store_down'
  | 'node_killed'
  | 'node_cut'
  | 'client_cut'
  /** Messages to and from one node or client (`*`: all) are late; in a simulation also out of order, doubled or lost. */
  | 'network_bad';

/** All faults: the real ones, and those that only a simulation has. */
export type FaultKind =
  | RealFaultKind
  /** A planned failover: the writes of the last `lossMs` are lost. Ends when the new master answers. */
  | 'shard_failed_over'
  /** A shard hangs and continues with its state unchanged. */
  | 'shard_frozen'
  /** Commands are lost before they run, or their replies are lost. */
  | 'shard_lossy'
  /** The store loses everything. */
  | 'store_emptied'
  | 'node_frozen'
  /**
   * The node runs, but no message passes between it and any instance, in both directions or in one, and no side is notified.
   * Afterwards all messages arrive.
   */
  | 'node_partitioned'
  | 'client_partitioned';

export type HarnessHistoryEvent =
  | { readonly kind: 'instance_up'; readonly instance: string }
  | { readonly kind: 'instance_down'; readonly instance: string; readonly isMeant: boolean }
  | {
      readonly kind: 'fault_began';
      readonly fault: number;
      readonly what: FaultKind;
      /** Its name in the history; `node-3` means every process of that node, such as `node-3.7`. `*`: all. */
      readonly target: string;
      /** How far back writes are lost, where that is known. */
      readonly lossMs?: number;
    }
  | { readonly kind: 'fault_ended'; readonly fault: number }
  /** Long work of the cold path: a rebuild, a slow hub, statistics. Dispatch must not be slower because of it. */
  | { readonly kind: 'cold_began'; readonly what: string }
  | { readonly kind: 'cold_ended'; readonly what: string }
  /** `from` wrote a message to the inbox of `to`. With `node` and `job` it is an assignment, for which a slot is reserved on the node. */
  | {
      readonly kind: 'message_sent';
      readonly from: string;
      readonly to: string;
      readonly node?: string;
      readonly job?: string;
    }
  /** The instance is about to send a second attempt of a job beside its overdue one. */
  | ({ readonly kind: 'hedged'; readonly instance: string } & Run)
  /** The level of something that must stay bounded, and its limit. */
  | {
      readonly kind: 'sampled';
      readonly instance: string;
      readonly gauge: string;
      readonly value: number;
      readonly limit: number;
      /** How much of it may be left at the end of a run; absent: anything within the limit. */
      readonly atRest?: number;
    }
  /** No new work comes, and all faults have ended. */
  | { readonly kind: 'quiet' }
  /**
   * Ordinary requests for more jobs than these nodes have slots. No node finishes any of them before `probe_ended`: if no slot
   * leaked, each node is full at some time in between.
   */
  | { readonly kind: 'probe_began'; readonly nodes: readonly string[] }
  | { readonly kind: 'probe_ended' }
  /** The record of a job at the end of the run. */
  | {
      readonly kind: 'looked_up';
      readonly job: string;
      /** Undefined: the job is unknown. */
      readonly state: string | undefined;
      readonly request?: string;
      readonly result?: DeliveredResult;
      readonly timeline: readonly string[];
    };

export type UntimedEvent = NodeHistoryEvent | ClientHistoryEvent | HarnessHistoryEvent;
export type HistoryEvent = { readonly at: number } & UntimedEvent;

export interface Recorder {
  /** Milliseconds since the run began; never goes back. */
  now(): number;
  record(event: UntimedEvent): void;
  readonly history: readonly HistoryEvent[];
}

/** `clock`: monotonic, in milliseconds; virtual time in a simulation. */
export function createRecorder(clock: () => number = () => performance.now()): Recorder {
  const startedAt = clock();
  const history: HistoryEvent[] = [];
  const now = (): number => clock() - startedAt;
  return {
    now,
    history,
    record: (event) => void history.push({ at: now(), ...event }),
  };
}

/** The events of these kinds, in their order. */
export function ofKind<Kind extends HistoryEvent['kind']>(
  history: readonly HistoryEvent[],
  ...kinds: readonly Kind[]
): readonly Extract<HistoryEvent, { kind: Kind }>[] {
  const { codes, codeOf, lists } = sortedByKind(history);
  const name = kinds.join();
  const known = lists.get(name);
  if (known !== undefined) return known as Extract<HistoryEvent, { kind: Kind }>[];
  const isWanted = codeOf.map((kind) => (kinds as readonly string[]).includes(kind));
  const wanted: HistoryEvent[] = [];
  for (let at = 0; at < codes.length; at++)
    if (isWanted[codes[at] as number]) wanted.push(history[at] as HistoryEvent);
  lists.set(name, wanted);
  return wanted as Extract<HistoryEvent, { kind: Kind }>[];
}

interface SortedByKind {
  /** For each event, the position of its kind in `codeOf`. */
  readonly codes: Uint8Array;
  readonly codeOf: readonly string[];
  /** Earlier results, by the names of the kinds: many rules read the same kinds. */
  readonly lists: Map<string, readonly HistoryEvent[]>;
}

const sorted = new WeakMap<readonly HistoryEvent[], SortedByKind>();

/** Sorted once: many rules read a few kinds each, and events have many shapes, which makes reading them slow. */
function sortedByKind(history: readonly HistoryEvent[]): SortedByKind {
  const before = sorted.get(history);
  if (before?.codes.length === history.length) return before;
  const codes = new Uint8Array(history.length);
  const codeOf: string[] = [];
  for (let at = 0; at < codes.length; at++) {
    const { kind } = history[at] as HistoryEvent;
    const code = codeOf.indexOf(kind);
    codes[at] = code < 0 ? codeOf.push(kind) - 1 : code;
  }
  const made = { codes, codeOf, lists: new Map() };
  sorted.set(history, made);
  return made;
}

export const nameOf = ({ job, attempt }: Run): string => `${job}#${attempt}`;
