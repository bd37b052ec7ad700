/** Failure path: counts how often each reason excluded a node, and keeps some of the last nodes. */
import type { NodeId } from '../../domain/ids.ts';
import type { Rejection, RejectionCount } from '../../domain/need.ts';
import type { Labels, Meter } from '../../ports/meter.ts';

export interface ExclusionLog {
  /** The reasons of a refusal. The samples are kept without a copy. */
  note(reasons: readonly RejectionCount[]): void;
  /** For each reason, some of the nodes it excluded last. */
  samples(): ReadonlyMap<Rejection, readonly NodeId[]>;
}

export function createExclusionLog({ meter }: { meter: Pick<Meter, 'count'> }): ExclusionLog {
  const samples = new Map<Rejection, readonly NodeId[]>();
  const labels = new Map<Rejection, Labels>();

  function labelsOf(reason: Rejection): Labels {
    const known = labels.get(reason) ?? { reason };
    labels.set(reason, known);
    return known;
  }

  return {
    note(reasons) {
      for (const { reason, count, sampleNodeIds } of reasons) {
        meter.count('scheduler_dispatch_excluded_total', labelsOf(reason), count);
        samples.set(reason, sampleNodeIds);
      }
    },
    samples: () => samples,
  };
}
