/** Vocabulary: all instances as operators see them. Values that could not be read in time are absent: unknown is not zero. */
import type { InboxSize } from '../../ports/inbox.ts';
import type { Figures } from '../../ports/instance-figures.ts';
import type { Instance } from '../../ports/instances.ts';

export interface InstanceLine {
  readonly instanceId: string;
  /** `dead`: its presence ended and no survivor has taken it over yet. */
  readonly state: 'self' | 'living' | 'dead' | 'unknown';
  readonly instance?: Instance | undefined;
  readonly figures?: Figures | undefined;
  readonly inbox?: InboxSize | undefined;
}

export interface StoreView {
  readonly mode: 'embedded' | 'single' | 'sentinel' | 'cluster';
  readonly isOk: boolean;
  /** A fault, or other information. */
  readonly detail?: string | undefined;
  /** The masters that this instance writes to. */
  readonly masters?: readonly { readonly address: string; readonly isOk: boolean }[] | undefined;
}

/** A removed instance whose dead letters are left. */
export interface Orphan {
  readonly instanceId: string;
  readonly deadLetters: number;
}

export interface ClusterView {
  readonly at: number;
  /** The instance that answers. */
  readonly instanceId: string;
  readonly store: StoreView;
  /** The answering instance first, then the others by name. */
  readonly instances: readonly InstanceLine[];
  readonly orphans: readonly Orphan[];
  readonly warnings: readonly string[];
}
