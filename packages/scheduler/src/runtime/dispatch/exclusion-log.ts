/** Hot path, but only for refusals: how often each reason spoke against a node, and which nodes it was lately. */
import type { NodeId } from '../../domain/ids.ts';
import type { Rejection, RejectionCount } from '../../domain/need.ts';
import type { Labels, Meter } from '../../ports/meter.ts';

export interface ExclusionLog {
  /** Why a request was refused. Keeps the samples as they are: nothing is copied. */
  note(reasons: readonly RejectionCount[]): void;
  /** For each reason that ever spoke against a node, some of those of the last time. */
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
