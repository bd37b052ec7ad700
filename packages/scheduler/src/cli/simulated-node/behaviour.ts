/** How a simulated node behaves: how long it takes, and how often it fails. */

export type Latency =
  | { readonly kind: 'constant'; readonly ms: number }
  | { readonly kind: 'uniform'; readonly minMs: number; readonly maxMs: number }
  /** Most answers near the median, a few very late, like real services. */
  | { readonly kind: 'lognormal'; readonly medianMs: number; readonly p99Ms: number }
  | { readonly kind: 'exponential'; readonly meanMs: number };

/** After some jobs each takes longer than the one before, until the node answers no more. */
export interface SlowDeath {
  readonly afterJobs: number;
  readonly factor: number;
  readonly silentAboveMs: number;
}

/** Rates are from 0 to 1, per job. */
export interface Behaviour {
  readonly latency: Latency;
  readonly failureRate: number;
  readonly failureCode: string;
  /** Takes the job and never answers. */
  readonly silenceRate: number;
  /** Never acknowledges, but answers. */
  readonly ackSilenceRate: number;
  /** Answers after `lateMs`, even if the job was cancelled. */
  readonly lateRate: number;
  readonly lateMs: number;
  /** Answers twice. */
  readonly duplicateRate: number;
  readonly modelNotAvailableRate: number;
  readonly modelNotAvailableService: string;
  /** Answers that it has no free slot although it has. */
  readonly overloadRate: number;
  readonly slowDeath?: SlowDeath;
  /** The job of this number cuts the connection instead of being answered. */
  readonly crashAfterJobs?: number;
  /** Absent: it does not return. */
  readonly restartAfterMs?: number;
  /** Length of the spoken answer. */
  readonly ttsMs: number;
  /** Behaves like the legacy nodes (docs/protocol.md), and not like one made with the SDK. */
  readonly isLegacy: boolean;
}

export const HEALTHY: Behaviour = {
  latency: { kind: 'lognormal', medianMs: 400, p99Ms: 1_500 },
  failureRate: 0,
  failureCode: 'PROCESSING_ERROR',
  silenceRate: 0,
  ackSilenceRate: 0,
  lateRate: 0,
  lateMs: 65_000,
  duplicateRate: 0,
  modelNotAvailableRate: 0,
  modelNotAvailableService: 'simulated-nmt',
  overloadRate: 0,
  ttsMs: 100,
  isLegacy: false,
};

/** Behaviours that have a name on the command line. */
export const NAMED_BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  healthy: HEALTHY,
  flaky: {
    ...HEALTHY,
    failureRate: 0.05,
    silenceRate: 0.01,
    ackSilenceRate: 0.01,
    duplicateRate: 0.02,
    modelNotAvailableRate: 0.01,
    overloadRate: 0.02,
  },
  crashing: { ...HEALTHY, crashAfterJobs: 20, restartAfterMs: 2_000 },
  dying: { ...HEALTHY, slowDeath: { afterJobs: 20, factor: 1.5, silentAboveMs: 60_000 } },
  legacy: { ...HEALTHY, isLegacy: true },
};

/** One kind of node in a fleet, and how many of them there are in proportion to the others. */
export interface Share {
  readonly share: number;
  readonly behaviour: Behaviour;
}
