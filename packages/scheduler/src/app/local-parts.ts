/** Composition root: what an instance among others must know of itself. */
import type { HintEvents } from '../cluster/messaging/hints.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { AudioAt } from '../domain/job-spec.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import type { SessionService } from '../session/session-service.ts';

/** What others ask of this instance, known only once everything is made. */
export interface LocalParts {
  readonly jobs: () => RunningJobService;
  readonly sessions: () => SessionService;
  readonly registry: () => NodeRegistry;
  readonly heardMissing: HintEvents['missing'];
  readonly fleet: FleetView;
  /** Where others fetch audio that is held here. */
  readonly audioAt: (jobId: JobId) => AudioAt | undefined;
  /** It was taken for dead: every connection is somebody else's. */
  readonly cutEverybody: () => void;
  /** A node connected elsewhere since. */
  readonly cutNode: (nodeId: NodeId) => void;
}
