/** Cold path: the operators' view of all instances. If a shard does not answer, only the figures on it are missing. */

import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { Inbox, InboxSize } from '../../ports/inbox.ts';
import type { Figures, InstanceFigures } from '../../ports/instance-figures.ts';
import type { Instance, Instances } from '../../ports/instances.ts';
import type { ClusterView, InstanceLine, Orphan, StoreView } from './cluster-view.ts';
import { clusterWarnings } from './cluster-warnings.ts';

export interface ClusterReader {
  /** Concurrent callers share one answer. A fault of the store is shown in the view and never rejects. */
  read(): Promise<ClusterView>;
}

/** Absent in a single instance. */
export interface ClusterStore {
  readonly instances: Pick<Instances, 'all' | 'living'>;
  readonly inbox: Pick<Inbox, 'size'>;
  readonly figures: Pick<InstanceFigures, 'read'>;
  readonly deadLetters: Pick<DeadLetters, 'orphaned'>;
}

const ANSWER_MS = 1_000;
/** I11: further instances are not shown. */
const MAX_SHOWN = 500;
const EMPTY: InboxSize = { messages: 0, delivered: 0, dead: 0 };

export function createClusterReader(deps: {
  clock: Clock;
  self: () => Instance;
  /** Current figures of this instance. */
  figures: () => Figures;
  store: () => StoreView;
  /** Further warnings of this instance. */
  warnings?: () => readonly string[];
  shared?: ClusterStore;
  /** The limit of one call to the store. */
  answerMs?: number;
}): ClusterReader {
  const { clock, shared, answerMs = ANSWER_MS } = deps;
  let underWay: Promise<ClusterView> | undefined;

  const withLimit = <T>(what: string, ask: () => Promise<T>): Promise<T> =>
    withTimeout(clock, answerMs, what, ask);
  const orUnknown = <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> =>
    withLimit(what, ask).catch(() => undefined);

  async function own(): Promise<InstanceLine> {
    const instance = deps.self();
    const { instanceId } = instance;
    const inbox =
      shared === undefined ? EMPTY : await orUnknown('inbox', () => shared.inbox.size(instanceId));
    return { instanceId, state: 'self', instance, figures: deps.figures(), inbox };
  }

  async function other(instanceId: string, from: ClusterStore): Promise<InstanceLine> {
    const [living, figures, inbox] = await Promise.all([
      orUnknown('presence', () => from.instances.living([instanceId])),
      orUnknown('figures', () => from.figures.read(instanceId)),
      orUnknown('inbox', () => from.inbox.size(instanceId)),
    ]);
    const instance = living?.get(instanceId);
    const state = living === undefined ? 'unknown' : instance === undefined ? 'dead' : 'living';
    return { instanceId, state, instance, figures, inbox };
  }

  /** Only those that have dead letters left. */
  async function orphansOf(from: ClusterStore, known: readonly string[]): Promise<readonly Orphan[]> {
    const gone = ((await orUnknown('orphans', () => from.deadLetters.orphaned())) ?? [])
      .filter((instanceId) => !known.includes(instanceId))
      .slice(0, MAX_SHOWN);
    const sizes = await Promise.all(
      gone.map((instanceId) => orUnknown('orphan', () => from.inbox.size(instanceId))),
    );
    return gone
      .map((instanceId, at) => ({ instanceId, deadLetters: sizes[at]?.dead ?? 0 }))
      .filter(({ deadLetters }) => deadLetters > 0);
  }

  async function readAll(): Promise<ClusterView> {
    const selfId = deps.self().instanceId;
    let store = deps.store();
    let all: readonly string[] = [];
    const notes: string[] = [];
    if (shared !== undefined) {
      try {
        all = await withLimit('the list of instances', () => shared.instances.all());
      } catch (fault) {
        store = { ...store, isOk: false, detail: fault instanceof Error ? fault.message : String(fault) };
        notes.push('the other instances are unknown: Redis did not answer');
      }
    }
    const others = all.filter((instanceId) => instanceId !== selfId).sort();
    if (others.length > MAX_SHOWN) notes.push(`${others.length - MAX_SHOWN} more instances are not shown`);
    const [first, rest, orphans] = await Promise.all([
      own(),
      shared === undefined
        ? []
        : Promise.all(others.slice(0, MAX_SHOWN).map((instanceId) => other(instanceId, shared))),
      shared === undefined ? [] : orphansOf(shared, [selfId, ...all]),
    ]);
    const instances = [first, ...rest];
    const warnings = [
      ...clusterWarnings({ store, instances, orphans }),
      ...notes,
      ...(deps.warnings?.() ?? []),
    ];
    return { at: clock.now(), instanceId: selfId, store, instances, orphans, warnings };
  }

  return {
    read() {
      underWay ??= readAll().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
