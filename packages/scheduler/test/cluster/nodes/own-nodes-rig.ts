/** The publisher of an instance's own nodes, on fake node records. */
import { createOwnNodePublisher } from '../../../src/cluster/nodes/publish-own-nodes.ts';
import type { NodeRecords } from '../../../src/ports/node-records.ts';
import { createManualClock } from '../../support/manual-clock.ts';

export const ENLIST_MS = 30_000;

/** On records that accept everything; `ttls` has the TTL of each write. */
export function createPublisher(chance: number) {
  const clock = createManualClock();
  const ttls: number[] = [];
  const nodeRecords = {
    post: async (_: unknown, ttlMs: number) => {
      ttls.push(ttlMs);
      return { kind: 'posted' };
    },
    seen: async (_: unknown, ttlMs: number) => {
      ttls.push(ttlMs);
      return { kind: 'seen' };
    },
  } as unknown as NodeRecords;
  const records = createOwnNodePublisher({
    nodeRecords,
    clock,
    chance: () => chance,
    self: () => ({ instanceId: 'me', incarnation: 'me-1' }),
    isFenced: () => false,
    enlistMs: ENLIST_MS,
    onFault(fault) {
      throw fault;
    },
    overtaken() {},
  });
  return { clock, records, ttls };
}

/** On records where every call waits until the test answers it. */
export function createHeldPublisher() {
  const clock = createManualClock();
  const requested: { what: string; answer: (how: object) => void }[] = [];
  const overtaken: string[] = [];
  const connection = { isFenced: false, incarnation: 'me-1' };
  /** Every post. */
  const posted: { version: number; incarnation: string }[] = [];
  const request = (what: string) =>
    new Promise<never>((resolve) => requested.push({ what, answer: (how) => resolve(how as never) }));
  const nodeRecords = {
    post({ generation, version, holder }) {
      posted.push({ version, incarnation: holder.incarnation });
      return request(`post ${generation}`);
    },
    seen: ({ generation }) => request(`seen ${generation}`),
    withdraw: (_, generation) => request(`withdraw ${generation}`),
    enlist: () => request('enlist'),
  } as Partial<NodeRecords> as NodeRecords;
  const records = createOwnNodePublisher({
    nodeRecords,
    clock,
    chance: () => 0.5,
    self: () => ({ instanceId: 'me', incarnation: connection.incarnation }),
    isFenced: () => connection.isFenced,
    enlistMs: ENLIST_MS,
    onFault(fault) {
      throw fault;
    },
    overtaken: (nodeId, generation) => overtaken.push(`${nodeId} ${generation}`),
  });
  async function answer(what: string, how: object): Promise<void> {
    const at = requested.findIndex((question) => question.what === what);
    if (at < 0) throw new Error(`no call waits: ${what}`);
    requested.splice(at, 1)[0]?.answer(how);
    await clock.advance(0);
  }
  return {
    clock,
    connection,
    records,
    overtaken,
    posted,
    answer,
    requested: () => requested.map(({ what }) => what),
  };
}
