/** Instances with presence that share one store in memory, each on a way to it that can be cut. */
import { createPresence } from '../../../src/cluster/membership/presence.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Instance, Instances } from '../../../src/ports/instances.ts';
import { createTestCluster } from '../../support/test-cluster.ts';

export const SETTINGS = { intervalMs: 2_000, ttlMs: 4_000, viewMs: 1_000 };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export function about(instanceId: string): Instance {
  return { instanceId, incarnation: `${instanceId}-1`, startedAt: 1, hostname: 'h', pid: 1, version: '1' };
}

export function startPresences() {
  const {
    clock,
    store: { instances: store },
    empty,
  } = createTestCluster();

  /** An instance whose way to the store can be cut, and whose clock may differ from the store's. */
  function join(
    instanceId: string,
    { ahead = 0, incarnation = `${instanceId}-1` }: { ahead?: number; incarnation?: string } = {},
  ) {
    const way = { isCut: false, hangs: false, backMs: 0 };
    const guarded = (<K extends keyof Instances>(name: K) =>
      async (...args: unknown[]) => {
        if (way.hangs) return new Promise(() => {});
        if (way.isCut) throw new Error('the store is away');
        const answer = await (store[name] as (...given: unknown[]) => Promise<unknown>)(...args);
        if (way.backMs > 0) await new Promise<void>((resolve) => clock.after(way.backMs, resolve));
        return answer;
      }) as <K extends keyof Instances>(name: K) => Instances[K];
    const instances: Instances = {
      announce: guarded('announce'),
      renew: guarded('renew'),
      leave: guarded('leave'),
      living: guarded('living'),
      all: guarded('all'),
      declareDead: guarded('declareDead'),
      remove: guarded('remove'),
    };
    const own: Clock = {
      now: () => clock.now() + ahead,
      precise: () => clock.precise() + ahead,
      after: clock.after,
    };
    const heard = { lost: 0, reborn: 0, emptied: 0, died: [] as string[][], fencedWhenEmptied: false };
    let incarnations = 1;
    const presence = createPresence({
      instances,
      clock: own,
      log: QUIET,
      settings: SETTINGS,
      events: {
        lost: () => {
          heard.lost += 1;
        },
        reborn: () => {
          heard.reborn += 1;
        },
        emptied: () => {
          heard.emptied += 1;
          heard.fencedWhenEmptied ||= presence.isFenced();
        },
        died: (ids) => heard.died.push([...ids]),
      },
      first: { ...about(instanceId), incarnation },
      newIncarnation: () => `${instanceId}-${++incarnations}`,
    });
    return { presence, way, heard };
  }

  return {
    clock,
    join,
    store: (): Instances => store,
    /** The store loses everything, as by FLUSHALL. */
    empty,
  };
}
