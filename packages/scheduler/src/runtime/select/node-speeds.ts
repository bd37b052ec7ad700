/**
 * Hot path: how fast each node works, learnt from the jobs that it has finished. Pure but for its own memory; the time is an argument.
 *
 * A pace is how long a node takes for one unit of work (about a second of speech) with no other job beside it. Nodes differ by kind of
 * work (stages and languages), so each kind has its paces. Old paces are doubted: after a while a node counts as faster than it was, so
 * that it is tried again.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Load } from '../../domain/lease.ts';
import type { NodeNumbers } from '../../domain/numbered/node-numbers.ts';

/** Kinds of work that are told apart; beyond them the kind that was set longest ago is forgotten. */
const MOST_KINDS = 64;
/** The share of the newest job in a pace: about the last three jobs count. */
const WEIGHT = 0.3;
/** The share of the newest job in the mean of a kind. */
const MEAN_WEIGHT = 0.02;
/** A pace counts in full this long. */
const FRESH_MS = 10_000;
/** After it, the doubt grows with this time constant. */
const DOUBT_MS = 20_000;
/** What an unknown node, or a very old pace, counts in relation to the mean or to that pace. */
const OPTIMISM = 0.5;
/** A node with all slots taken is assumed to need this much longer for each of its jobs. */
const CROWDING = 0.5;
/** What a job needs however short it is, in units of work. */
const LEAST_WORK = 0.5;
/** Characters of text that count as one second of speech. */
const CHARACTERS_PER_UNIT = 15;
const START = 64;

/** The paces of one kind of work, by node number. */
export interface KindOfWork {
  paces: Float64Array;
  /** When each pace was learnt. */
  learntAt: Float64Array;
  /** To whom the number belonged then: numbers are reused. */
  readonly owners: (NodeId | undefined)[];
  /** Of all nodes; NaN: no job of the kind has ended. */
  mean: number;
}

export interface NodeSpeeds {
  /** Undefined: no job of this kind has ended. */
  kind(key: string): KindOfWork | undefined;
  /** A job has ended with a result after `ms`; `load` includes its slot. */
  finished(key: string, nodeId: NodeId, ms: number, work: number, load: Load | undefined, now: number): void;
  /** A job was given up after `ms`: the node is at least as slow as that. */
  gaveUp(key: string, nodeId: NodeId, ms: number, work: number, load: Load | undefined, now: number): void;
  /** Another instance has learnt this pace from a job that it drove. */
  heard(key: string, nodeId: NodeId, pace: number, now: number): void;
}

/** `learnt` gets the pace of each job that has ended here. */
export function createNodeSpeeds(
  numbers: Pick<NodeNumbers, 'find'>,
  learnt?: (key: string, nodeId: NodeId, pace: number) => void,
): NodeSpeeds {
  const kinds = createBoundedMap<string, KindOfWork>({ max: MOST_KINDS });

  function paceOf(ms: number, work: number, load: Load | undefined): number {
    const pace = ms / work / (load === undefined ? 1 : crowding(load.used, load.max));
    return pace > 0 && Number.isFinite(pace) ? pace : Number.NaN;
  }

  function set(kind: KindOfWork, index: number, nodeId: NodeId, pace: number, now: number): void {
    if (index >= kind.paces.length) grow(kind, index);
    kind.paces[index] = pace;
    kind.learntAt[index] = now;
    kind.owners[index] = nodeId;
  }

  function blend(key: string, nodeId: NodeId, pace: number, now: number): void {
    const index = numbers.find(nodeId);
    if (index < 0) return;
    let kind = kinds.get(key);
    if (kind === undefined) {
      kind = {
        paces: new Float64Array(START),
        learntAt: new Float64Array(START),
        owners: new Array<NodeId | undefined>(START).fill(undefined),
        mean: pace,
      };
      kinds.set(key, kind);
    }
    kind.mean += MEAN_WEIGHT * (pace - kind.mean);
    const known = kind.owners[index] === nodeId ? (kind.paces[index] as number) : pace;
    set(kind, index, nodeId, known + WEIGHT * (pace - known), now);
  }

  return {
    kind: (key) => kinds.get(key),

    finished(key, nodeId, ms, work, load, now) {
      const pace = paceOf(ms, work, load);
      if (Number.isNaN(pace)) return;
      blend(key, nodeId, pace, now);
      learnt?.(key, nodeId, pace);
    },

    heard: blend,

    gaveUp(key, nodeId, ms, work, load, now) {
      const pace = paceOf(ms, work, load);
      const index = numbers.find(nodeId);
      const kind = kinds.get(key);
      if (index < 0 || Number.isNaN(pace) || kind === undefined) return;
      if (kind.owners[index] === nodeId && (kind.paces[index] as number) >= pace) return;
      // Less than a usual job takes says nothing.
      if (pace > kind.mean) set(kind, index, nodeId, pace, now);
    },
  };
}

/** In units of work; undefined: the length of the audio is unknown, so the job teaches nothing. */
export function workOf({ spec, audioMs }: Pick<JobRecord, 'spec' | 'audioMs'>): number | undefined {
  if (spec.inputText !== undefined) return LEAST_WORK + spec.inputText.length / CHARACTERS_PER_UNIT;
  return audioMs === undefined ? undefined : LEAST_WORK + audioMs / 1_000;
}

/** How much longer a job takes beside `used` − 1 others. */
export const crowding = (used: number, max: number): number =>
  max > 1 ? 1 + (CROWDING * Math.max(0, used - 1)) / (max - 1) : 1;

/** The pace as it was learnt; that of an unknown node is the mean. */
export const knownPace = (kind: KindOfWork, index: number, nodeId: NodeId): number =>
  kind.owners[index] === nodeId ? (kind.paces[index] as number) : kind.mean;

/** The pace that is expected of a node now, without other jobs beside. */
export function expectedPace(kind: KindOfWork, index: number, nodeId: NodeId, now: number): number {
  const owner = kind.owners[index];
  // Most unknown nodes have no pace at all, which costs less to see than a name.
  if (owner === undefined || owner !== nodeId) return OPTIMISM * kind.mean;
  const pace = kind.paces[index] as number;
  const doubtedMs = now - (kind.learntAt[index] as number) - FRESH_MS;
  if (doubtedMs <= 0) return pace;
  return pace * (OPTIMISM + (1 - OPTIMISM) * Math.exp(-doubtedMs / DOUBT_MS));
}

function grow(kind: KindOfWork, index: number): void {
  let length = kind.paces.length * 2;
  while (length <= index) length *= 2;
  const paces = new Float64Array(length);
  paces.set(kind.paces);
  kind.paces = paces;
  const learntAt = new Float64Array(length);
  learntAt.set(kind.learntAt);
  kind.learntAt = learntAt;
  // Filled: V8 reads an array with large holes as a hash map, which costs more than the rest of a decision.
  for (let at = kind.owners.length; at < length; at++) kind.owners.push(undefined);
}
