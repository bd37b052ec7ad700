/** Cold path: what operators see of all instances. An instance or shard that does not answer costs its own figures only. */

import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { Inbox, InboxSize } from '../../ports/inbox.ts';
import type { Figures, InstanceFigures } from '../../ports/instance-figures.ts';
import type { Instance, Instances } from '../../ports/instances.ts';
import type { ClusterView, InstanceLine, Orphan, StoreView } from './cluster-view.ts';
import { clusterWarnings } from './cluster-warnings.ts';

export interface ClusterReader {
  /** Whoever asks while an answer is under way gets the same one. Never rejects because of the store: it says so. */
  read(): Promise<ClusterView>;
}

/** Absent in one process that has no others. */
export interface SharedStore {
  readonly instances: Pick<Instances, 'all' | 'living'>;
  readonly inbox: Pick<Inbox, 'size'>;
  readonly figures: Pick<InstanceFigures, 'read'>;
  readonly deadLetters: Pick<DeadLetters, 'orphaned'>;
}

const ANSWER_MS = 1_000;
/** I11: more are not shown. */
const MOST_SHOWN = 500;
const EMPTY: InboxSize = { messages: 0, delivered: 0, dead: 0 };

export function createClusterReader(deps: {
  clock: Clock;
  self: () => Instance;
  /** Of this instance, as of now. */
  figures: () => Figures;
  store: () => StoreView;
  /** What else the operators of this instance should know. */
  warnings?: () => readonly string[];
  shared?: SharedStore;
  /** How long one answer of the store is waited for. */
  answerMs?: number;
}): ClusterReader {
  const { clock, shared, answerMs = ANSWER_MS } = deps;
  let underWay: Promise<ClusterView> | undefined;

  const soon = <T>(what: string, ask: () => Promise<T>): Promise<T> =>
    withTimeout(clock, answerMs, what, ask);
  const orUnknown = <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> =>
    soon(what, ask).catch(() => undefined);

  async function own(): Promise<InstanceLine> {
    const instance = deps.self();
    const { instanceId } = instance;
    const inbox =
      shared === undefined ? EMPTY : await orUnknown('inbox', () => shared.inbox.size(instanceId));
    return { instanceId, state: 'self', instance, figures: deps.figures(), inbox };
  }

  async function other(instanceId: string, from: SharedStore): Promise<InstanceLine> {
    const [living, figures, inbox] = await Promise.all([
      orUnknown('presence', () => from.instances.living([instanceId])),
      orUnknown('figures', () => from.figures.read(instanceId)),
      orUnknown('inbox', () => from.inbox.size(instanceId)),
    ]);
    const instance = living?.get(instanceId);
    const state = living === undefined ? 'unknown' : instance === undefined ? 'dead' : 'living';
    return { instanceId, state, instance, figures, inbox };
  }

  /** Those that have none left are no news. */
  async function orphansOf(from: SharedStore, known: readonly string[]): Promise<readonly Orphan[]> {
    const gone = ((await orUnknown('orphans', () => from.deadLetters.orphaned())) ?? [])
      .filter((instanceId) => !known.includes(instanceId))
      .slice(0, MOST_SHOWN);
    const sizes = await Promise.all(
      gone.map((instanceId) => orUnknown('orphan', () => from.inbox.size(instanceId))),
    );
    return gone
      .map((instanceId, at) => ({ instanceId, deadLetters: sizes[at]?.dead ?? 0 }))
      .filter(({ deadLetters }) => deadLetters > 0);
  }

  async function look(): Promise<ClusterView> {
    const selfId = deps.self().instanceId;
    let store = deps.store();
    let all: readonly string[] = [];
    const notes: string[] = [];
    if (shared !== undefined) {
      try {
        all = await soon('the list of instances', () => shared.instances.all());
      } catch (fault) {
        store = { ...store, isOk: false, detail: fault instanceof Error ? fault.message : String(fault) };
        notes.push('the other instances are not known: the store could not be asked for them');
      }
    }
    const others = all.filter((instanceId) => instanceId !== selfId).sort();
    if (others.length > MOST_SHOWN) notes.push(`${others.length - MOST_SHOWN} more instances are not shown`);
    const [first, rest, orphans] = await Promise.all([
      own(),
      shared === undefined
        ? []
        : Promise.all(others.slice(0, MOST_SHOWN).map((instanceId) => other(instanceId, shared))),
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
      underWay ??= look().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
