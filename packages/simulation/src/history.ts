/** What was seen during a run, by nodes, by clients and by whoever broke things: one list, one clock. The checker knows nothing else. */

/** Who did the work, as a node signs it: a result that reaches a client says which run made it. */
export interface Run {
  readonly node: string;
  readonly job: string;
  readonly attempt: number;
}

/** A node is one process of it: after `node_down` whatever ran there is gone. */
export type NodeHappening =
  | {
      readonly kind: 'node_up';
      readonly node: string;
      readonly slots: number;
      readonly style: string;
      /** It says so when it takes a job, and that is recorded. */
      readonly acknowledges?: boolean;
      /** The strict pool it belongs to, where there are such. */
      readonly pool?: string;
    }
  | { readonly kind: 'node_down'; readonly node: string }
  /** It arrived. `instance` is known where a socket brought it. */
  | ({ readonly kind: 'assigned'; readonly instance?: string } & Run)
  | ({ readonly kind: 'started' } & Run)
  /** The node said that it took it. */
  | ({ readonly kind: 'acknowledged' } & Run)
  | ({ readonly kind: 'ended'; readonly how: 'done' | 'failed' | 'cancelled' } & Run)
  /** The node found itself full. */
  | ({ readonly kind: 'turned_away' } & Run)
  | { readonly kind: 'cancel_told'; readonly node: string; readonly job: string };

export type ClientHappening =
  /** For the first time. `words` is what was said: it comes back translated, or it was somebody else's. */
  | {
      readonly kind: 'asked';
      readonly client: string;
      readonly request: string;
      readonly words: string;
      /** Request ids are the tenant's: two tenants may have the same one. A client has one tenant. */
      readonly tenant?: string;
      /** The strict pool to which its tenant is confined. */
      readonly pool?: string;
      /** How long it is ready to wait for an answer; absent: not at all. */
      readonly waitMs?: number;
    }
  /** `askedAt`: when this try left. Sessions do not know. */
  | {
      readonly kind: 'accepted';
      readonly client: string;
      readonly request: string;
      readonly job: string;
      readonly askedAt?: number;
      /** Who answered, where that is known. */
      readonly instance?: string;
      /** In a session: as which utterance. */
      readonly session?: string;
      readonly index?: number;
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
  /** What the client takes for the end of it. */
  | {
      readonly kind: 'outcome';
      readonly client: string;
      readonly request: string;
      readonly job?: string;
      readonly result?: Told;
      /** There is no translation, and why. */
      readonly missing?: string;
    }
  /** An outcome as it came over the wire of a session, repeats included. */
  | {
      readonly kind: 'delivered';
      readonly client: string;
      readonly session: string;
      readonly seq: number;
      readonly index: number;
      readonly what: string;
      /** Who told it, where that is known. */
      readonly instance?: string;
    }
  /** Never accepted, and the client has stopped to try. */
  | { readonly kind: 'abandoned'; readonly client: string; readonly request: string }
  /** For good, without a word: nobody is there to be told. */
  | { readonly kind: 'client_left'; readonly client: string }
  /** Somebody asked for a job that is not of its tenant. */
  | {
      readonly kind: 'peeked';
      readonly client: string;
      readonly tenant: string;
      readonly job: string;
      /** By which question, where there are several. */
      readonly how?: string;
      readonly didSee: boolean;
    };

export interface Told {
  /** Undefined: the text is signed by no run. */
  readonly by: Run | undefined;
  readonly words: string;
}

/** What is done to real processes. */
export type RealFaultKind =
  | 'instance_killed'
  | 'instance_frozen'
  | 'instance_restarted'
  /** It reaches nothing of the store, or not the part where it shows that it lives; everybody else does. */
  | 'instance_cut_off'
  /** Its clock is wrong from its start on. */
  | 'clock_set'
  /** Its connections to the store break, and may be made anew at once. */
  | 'store_cut'
  /** Everything between it and the store takes longer. */
  | 'store_slow'
  /** Slots go from one master to another, while both serve. */
  | 'slots_moved'
  /** A master is gone, or hangs, and another one takes its place: what was not replicated is lost. */
  | 'master_killed'
  | 'master_frozen'
  | 'store_down'
  | 'node_killed'
  | 'node_cut'
  | 'client_cut'
  /** Messages to and from one node or client (`*`: all) are late; in a simulation also out of order, doubled or lost. */
  | 'network_bad';

/** Those, and what a simulation does besides. */
export type FaultKind =
  | RealFaultKind
  /** Another master takes over, by order: lost is what was written in the last `lossMs`. Ends when it answers. */
  | 'shard_failed_over'
  /** A shard hangs and comes back as it was. */
  | 'shard_frozen'
  /** Commands are lost on their way, or done and their answers lost. */
  | 'shard_lossy'
  /** All that was stored is gone. */
  | 'store_emptied'
  | 'node_frozen'
  /** It goes on, but nothing passes between it and any instance, or nothing one way, and nobody is told; then everything does. */
  | 'node_parted'
  | 'client_parted';

export type HarnessHappening =
  | { readonly kind: 'instance_up'; readonly instance: string }
  | { readonly kind: 'instance_down'; readonly instance: string; readonly isMeant: boolean }
  | {
      readonly kind: 'fault_began';
      readonly fault: number;
      readonly what: FaultKind;
      /** Its name in the history; `node-3` is every process of it, as `node-3.7`. `*`: all. */
      readonly target: string;
      /** How far back writes are lost, where that is known. */
      readonly lossMs?: number;
    }
  | { readonly kind: 'fault_ended'; readonly fault: number }
  /** Work of the cold path that takes long: a rebuild, a slow hub, statistics. Dispatch must not notice. */
  | { readonly kind: 'cold_began'; readonly what: string }
  | { readonly kind: 'cold_ended'; readonly what: string }
  /** `from` put something for `to` where `to` will read it. With `node` and `job` it hands the job over, and a slot is kept for it there. */
  | {
      readonly kind: 'letter_sent';
      readonly from: string;
      readonly to: string;
      readonly node?: string;
      readonly job?: string;
    }
  /** How much there is of something that must not grow without end, and how much there may be. */
  | {
      readonly kind: 'sampled';
      readonly instance: string;
      readonly gauge: string;
      readonly value: number;
      readonly limit: number;
      /** How much of it may be left when everything is quiet; absent: whatever is within the limit. */
      readonly atRest?: number;
    }
  /** No more work comes, and everything is whole again. */
  | { readonly kind: 'quiet' }
  /**
   * More work is asked for than these nodes have slots, by ordinary requests, and no node ends any of it before `probe_ended`: if
   * nothing leaked, each of them is full at some time in between.
   */
  | { readonly kind: 'probe_began'; readonly nodes: readonly string[] }
  | { readonly kind: 'probe_ended' }
  /** What the record of a job says at the very end. */
  | {
      readonly kind: 'looked_up';
      readonly job: string;
      /** Undefined: nobody knows it. */
      readonly state: string | undefined;
      readonly request?: string;
      readonly result?: Told;
      readonly timeline: readonly string[];
    };

export type Unrecorded = NodeHappening | ClientHappening | HarnessHappening;
export type Happening = { readonly at: number } & Unrecorded;

export interface Recorder {
  /** Milliseconds since the run began; never goes back. */
  now(): number;
  record(happening: Unrecorded): void;
  readonly history: readonly Happening[];
}

/** `clock`: monotonic, in milliseconds; virtual time in a simulation. */
export function createRecorder(clock: () => number = () => performance.now()): Recorder {
  const startedAt = clock();
  const history: Happening[] = [];
  const now = (): number => clock() - startedAt;
  return {
    now,
    history,
    record: (happening) => void history.push({ at: now(), ...happening }),
  };
}

/** Those of these kinds, in their order. */
export function ofKind<Kind extends Happening['kind']>(
  history: readonly Happening[],
  ...kinds: readonly Kind[]
): readonly Extract<Happening, { kind: Kind }>[] {
  const { codes, codeOf, lists } = sortedByKind(history);
  const name = kinds.join();
  const known = lists.get(name);
  if (known !== undefined) return known as Extract<Happening, { kind: Kind }>[];
  const isWanted = codeOf.map((kind) => (kinds as readonly string[]).includes(kind));
  const wanted: Happening[] = [];
  for (let at = 0; at < codes.length; at++)
    if (isWanted[codes[at] as number]) wanted.push(history[at] as Happening);
  lists.set(name, wanted);
  return wanted as Extract<Happening, { kind: Kind }>[];
}

interface SortedByKind {
  /** Of each happening, the place of its kind in `codeOf`. */
  readonly codes: Uint8Array;
  readonly codeOf: readonly string[];
  /** What was asked for before, by the names of the kinds: rules want the same. */
  readonly lists: Map<string, readonly Happening[]>;
}

const sorted = new WeakMap<readonly Happening[], SortedByKind>();

/** Looked through once: there are many rules, each wants a few kinds, and what happens has many shapes, which makes looking dear. */
function sortedByKind(history: readonly Happening[]): SortedByKind {
  const before = sorted.get(history);
  if (before?.codes.length === history.length) return before;
  const codes = new Uint8Array(history.length);
  const codeOf: string[] = [];
  for (let at = 0; at < codes.length; at++) {
    const { kind } = history[at] as Happening;
    const code = codeOf.indexOf(kind);
    codes[at] = code < 0 ? codeOf.push(kind) - 1 : code;
  }
  const made = { codes, codeOf, lists: new Map() };
  sorted.set(history, made);
  return made;
}

export const nameOf = ({ job, attempt }: Run): string => `${job}#${attempt}`;

/** A node's signature under a text, and back. */
export const sign = (run: Run): string => `${run.node} ${run.job} ${run.attempt}`;

export function readSignature(text: string): Run | undefined {
  const [node, job, attempt] = text.split(' ');
  if (node === undefined || job === undefined || !Number.isInteger(Number(attempt))) return undefined;
  return { node, job, attempt: Number(attempt) };
}
