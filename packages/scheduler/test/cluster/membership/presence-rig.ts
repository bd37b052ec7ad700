/** Instances with presence on one store in memory. The connection of each can be cut. */
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

  /** An instance whose connection can be cut and whose clock may differ from the clock of the store. */
  function join(
    instanceId: string,
    { ahead = 0, incarnation = `${instanceId}-1` }: { ahead?: number; incarnation?: string } = {},
  ) {
    const connection = { isCut: false, hangs: false, backMs: 0 };
    const guarded = (<K extends keyof Instances>(name: K) =>
      async (...args: unknown[]) => {
        if (connection.hangs) return new Promise(() => {});
        if (connection.isCut) throw new Error('the store is away');
        const answer = await (store[name] as (...given: unknown[]) => Promise<unknown>)(...args);
        if (connection.backMs > 0)
          await new Promise<void>((resolve) => clock.after(connection.backMs, resolve));
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
    const received = {
      lost: 0,
      reincarnated: 0,
      emptied: 0,
      died: [] as string[][],
      fencedWhenEmptied: false,
    };
    let incarnations = 1;
    const presence = createPresence({
      instances,
      clock: own,
      log: QUIET,
      settings: SETTINGS,
      events: {
        lost: () => {
          received.lost += 1;
        },
        reincarnated: () => {
          received.reincarnated += 1;
        },
        emptied: () => {
          received.emptied += 1;
          received.fencedWhenEmptied ||= presence.isFenced();
        },
        died: (ids) => received.died.push([...ids]),
      },
      first: { ...about(instanceId), incarnation },
      newIncarnation: () => `${instanceId}-${++incarnations}`,
    });
    return { presence, connection, received };
  }

  return {
    clock,
    join,
    store: (): Instances => store,
    /** The store loses everything, as by FLUSHALL. */
    empty,
  };
}
