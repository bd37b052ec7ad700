/** What was seen during a run, by nodes, by clients and by whoever broke things: one list, one clock. The checker knows nothing else. */

/** Who did the work, as a node signs it: a result that reaches a client says which run made it. */
export interface Run {
  readonly node: string;
  readonly job: string;
  readonly attempt: number;
}

/** A node is one process of it: after `node_down` whatever ran there is gone. */
export type NodeHappening =
  | { readonly kind: 'node_up'; readonly node: string; readonly slots: number; readonly style: string }
  | { readonly kind: 'node_down'; readonly node: string }
  /** It arrived. `instance` is known where a socket brought it. */
  | ({ readonly kind: 'assigned'; readonly instance?: string } & Run)
  | ({ readonly kind: 'started' } & Run)
  | ({ readonly kind: 'ended'; readonly how: 'done' | 'failed' | 'cancelled' } & Run)
  /** The node found itself full. */
  | ({ readonly kind: 'turned_away' } & Run)
  | { readonly kind: 'cancel_told'; readonly node: string; readonly job: string };

export type ClientHappening =
  /** For the first time. `words` is what was said: it comes back translated, or it was somebody else's. */
  | { readonly kind: 'asked'; readonly client: string; readonly request: string; readonly words: string }
  /** `askedAt`: when this try left. Sessions do not know. */
  | {
      readonly kind: 'accepted';
      readonly client: string;
      readonly request: string;
      readonly job: string;
      readonly askedAt?: number;
    }
  | {
      readonly kind: 'refused';
      readonly client: string;
      readonly request: string;
      readonly code: string;
      readonly askedAt?: number;
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
    }
  /** Never accepted, and the client has stopped to try. */
  | { readonly kind: 'abandoned'; readonly client: string; readonly request: string };

export interface Told {
  /** Undefined: the text is signed by no run. */
  readonly by: Run | undefined;
  readonly words: string;
}

export type FaultKind =
  | 'instance_killed'
  | 'instance_frozen'
  | 'instance_restarted'
  | 'master_killed'
  | 'master_frozen'
  | 'store_down'
  | 'node_killed'
  | 'node_cut'
  | 'client_cut';

export type HarnessHappening =
  | { readonly kind: 'instance_up'; readonly instance: string }
  | { readonly kind: 'instance_down'; readonly instance: string; readonly isMeant: boolean }
  | {
      readonly kind: 'fault_began';
      readonly fault: number;
      readonly what: FaultKind;
      readonly target: string;
    }
  | { readonly kind: 'fault_ended'; readonly fault: number }
  /** No more work comes, and everything is whole again. */
  | { readonly kind: 'quiet' }
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

export const ofKind = <Kind extends Happening['kind']>(
  history: readonly Happening[],
  ...kinds: readonly Kind[]
): Extract<Happening, { kind: Kind }>[] =>
  history.filter((each): each is Extract<Happening, { kind: Kind }> =>
    (kinds as readonly string[]).includes(each.kind),
  );

export const nameOf = ({ job, attempt }: Run): string => `${job}#${attempt}`;

/** A node's signature under a text, and back. */
export const sign = (run: Run): string => `${run.node} ${run.job} ${run.attempt}`;

export function readSignature(text: string): Run | undefined {
  const [node, job, attempt] = text.split(' ');
  if (node === undefined || job === undefined || !Number.isInteger(Number(attempt))) return undefined;
  return { node, job, attempt: Number(attempt) };
}
