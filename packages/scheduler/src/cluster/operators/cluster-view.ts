/** Vocabulary: all instances as operators see them. Whatever could not be asked in time is absent: unknown is not zero. */
import type { InboxSize } from '../../ports/inbox.ts';
import type { Figures } from '../../ports/instance-figures.ts';
import type { Instance } from '../../ports/instances.ts';

export interface InstanceLine {
  readonly instanceId: string;
  /** `dead`: announced itself once, lives no more and is not yet adopted. */
  readonly state: 'self' | 'living' | 'dead' | 'unknown';
  readonly instance?: Instance | undefined;
  readonly figures?: Figures | undefined;
  readonly inbox?: InboxSize | undefined;
}

export interface StoreView {
  readonly mode: 'embedded' | 'single' | 'sentinel' | 'cluster';
  readonly isOk: boolean;
  /** What is wrong with it, or worth knowing. */
  readonly detail?: string | undefined;
}

/** Somebody who is gone for good and left dead letters. */
export interface Orphan {
  readonly instanceId: string;
  readonly deadLetters: number;
}

export interface ClusterView {
  readonly at: number;
  /** Who was asked. */
  readonly instanceId: string;
  readonly store: StoreView;
  /** The one that was asked first, then by name. */
  readonly instances: readonly InstanceLine[];
  readonly orphans: readonly Orphan[];
  readonly warnings: readonly string[];
}
