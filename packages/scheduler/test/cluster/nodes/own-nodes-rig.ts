/** The node records of an instance's own nodes on a board. */
import { createOwnNodePublisher } from '../../../src/cluster/nodes/publish-own-nodes.ts';
import type { NodeRecords } from '../../../src/ports/node-records.ts';
import { createManualClock } from '../../support/manual-clock.ts';

export const ENLIST_MS = 30_000;

/** On one that takes everything, and for how long it was told that nodes are present. */
export function openSheets(chance: number) {
  const clock = createManualClock();
  const lives: number[] = [];
  const board = {
    post: async (_: unknown, life: number) => {
      lives.push(life);
      return { kind: 'posted' };
    },
    seen: async (_: unknown, life: number) => {
      lives.push(life);
      return { kind: 'seen' };
    },
  } as unknown as NodeRecords;
  const records = createOwnNodePublisher({
    board,
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
  return { clock, records, lives };
}

/** On a board of which every question waits until the test answers it. */
export function openHeldSheets() {
  const clock = createManualClock();
  const asked: { what: string; answer: (how: object) => void }[] = [];
  const overtaken: string[] = [];
  const way = { isFenced: false, incarnation: 'me-1' };
  /** Of every post. */
  const posted: { version: number; incarnation: string }[] = [];
  const ask = (what: string) =>
    new Promise<never>((resolve) => asked.push({ what, answer: (how) => resolve(how as never) }));
  const board = {
    post({ generation, version, holder }) {
      posted.push({ version, incarnation: holder.incarnation });
      return ask(`post ${generation}`);
    },
    seen: ({ generation }) => ask(`seen ${generation}`),
    withdraw: (_, generation) => ask(`withdraw ${generation}`),
    enlist: () => ask('enlist'),
  } as Partial<NodeRecords> as NodeRecords;
  const records = createOwnNodePublisher({
    board,
    clock,
    chance: () => 0.5,
    self: () => ({ instanceId: 'me', incarnation: way.incarnation }),
    isFenced: () => way.isFenced,
    enlistMs: ENLIST_MS,
    onFault(fault) {
      throw fault;
    },
    overtaken: (nodeId, generation) => overtaken.push(`${nodeId} ${generation}`),
  });
  async function answer(what: string, how: object): Promise<void> {
    const at = asked.findIndex((question) => question.what === what);
    if (at < 0) throw new Error(`nobody asked: ${what}`);
    asked.splice(at, 1)[0]?.answer(how);
    await clock.advance(0);
  }
  return { clock, way, records, overtaken, posted, answer, asked: () => asked.map(({ what }) => what) };
}
