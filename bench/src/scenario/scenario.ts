/** A scenario as its file declares it, checked and with defaults. */
import type { Arrivals } from '../open-loop/arrivals.ts';
import type { ServiceTime } from '../open-loop/service-time.ts';
import type { FigureId, Measure, Peer, Varied } from './vocabulary.ts';

export const PRIORITIES = ['high', 'normal', 'low'] as const;

/** One kind of jobs among others. */
export interface MixEntry {
  /** Relative to the others. */
  readonly share: number;
  readonly tenant: string;
  readonly priority: (typeof PRIORITIES)[number];
  /** Absent: any pair of the fleet's languages. */
  readonly pair?: { readonly source: string; readonly target: string };
}

export interface Fleet {
  readonly nodes: number;
  readonly slots: number;
  readonly languages: readonly string[];
  /** How many of them each node has. */
  readonly languagesPerNode: number;
  readonly heartbeatSeconds: number;
  /** Share of the slots that is taken before anything is measured. */
  readonly busy: number;
}

export interface Threshold {
  readonly figure: FigureId;
  readonly comparison: 'at_most' | 'at_least';
  readonly target: number;
  /** The figure divided by that of this peer. */
  readonly against?: Peer;
  /** Of a curve: at this value, instead of its last. */
  readonly at?: number;
  /** Of a curve: the figure at `at` divided by that here. */
  readonly over?: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly measures: Measure;
  readonly store: 'memory' | 'redis';
  readonly instances: number;
  readonly sessions: number;
  readonly peers: readonly Peer[];
  /** Of one round. */
  readonly seconds: number;
  /** Unless the command line requests fewer. */
  readonly mostRounds: number;
  /** Jobs in flight while the next begins as soon as one ends. 0: not measured. */
  readonly inFlight: number;
  /** How long a job may wait for a slot. */
  readonly waitMs: number;
  readonly fleet: Fleet;
  readonly arrivals: Arrivals;
  readonly service: ServiceTime;
  readonly mix: readonly MixEntry[];
  readonly vary?: { readonly field: Varied; readonly values: readonly number[] };
  readonly saturation?: { readonly p99Ms: number; readonly from: number; readonly seconds: number };
  readonly thresholds: readonly Threshold[];
}

/** A point of a curve in words; nothing if there is no curve. */
export const shownAt = ({ vary }: Pick<Scenario, 'vary'>, value: number | undefined): string =>
  value === undefined || vary === undefined
    ? ''
    : `${value.toLocaleString('en-US')} ${value === 1 ? vary.field.replace(/s$/, '') : vary.field}`;
