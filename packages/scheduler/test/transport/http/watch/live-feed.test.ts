/** The live feed: a snapshot, deltas, and less for viewers that read slowly. */
import type { Readable } from 'node:stream';
import { LIVE_NODE_COLUMNS, LiveDelta, LiveSnapshot, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import { createHistory } from '../../../../src/management/stats/history.ts';
import { createFleetView } from '../../../../src/runtime/fleet/fleet-view.ts';
import { createLiveFeed } from '../../../../src/transport/http/watch/live-feed.ts';
import { createNodeRows } from '../../../../src/transport/http/watch/node-rows.ts';
import { nodeView } from '../../../runtime/fleet/fleet-fixture.ts';

interface Event {
  readonly event: string;
  readonly id: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test compares the parts it needs.
  readonly data: any;
}

function start() {
  const fleet = createFleetView();
  const skipped: string[] = [];
  const attention: unknown[] = [];
  const faults: unknown[] = [];
  let isBroken = false;
  const rows = createNodeRows({
    fleet,
    originOf: () => {
      if (isBroken) throw new Error('no origin');
      return { instanceId: 'a', region: 'eu', zone: '', version: '1.2', platform: 'linux' };
    },
    poolName: String,
  });
  const feed = createLiveFeed({
    clock: systemClock,
    meter: { count: (name) => skipped.push(name) },
    log: { error: (fields) => faults.push(fields) },
    instanceId: 'a',
    rows,
    history: createHistory(),
    attention: () => attention as never,
  });
  const breakRows = (): void => {
    isBroken = true;
  };
  const add = (nodeId: string) => fleet.upsert(nodeView(nodeId, { slots: 4 }));
  return { fleet, feed, add, skipped, attention, faults, breakRows };
}

const NEVER = new AbortController().signal;

/** Everything that the stream has at present. */
async function read(stream: Readable): Promise<Event[]> {
  let text = '';
  for (let part = stream.read(); part !== null; part = stream.read()) text += part;
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [id = '', name = '', data = ''] = event.split('\n');
      return { id: Number(id.slice(4)), event: name.slice(7), data: JSON.parse(data.slice(6)) };
    });
}

/** The first event of a new viewer. */
async function open(feed: ReturnType<typeof start>['feed']) {
  const stream = feed.open(NEVER);
  await new Promise((resolve) => stream.once('readable', resolve));
  return { stream, first: await read(stream) };
}

describe('live feed', () => {
  it('begins with a snapshot of all nodes', async () => {
    const { feed, add, fleet } = start();
    add('n1');
    add('n2');
    fleet.setLoad('n2', { used: 3, max: 4 });
    const { first } = await open(feed);
    expect(first).toHaveLength(1);
    expect(first[0]).toMatchObject({ event: 'snapshot', id: 1, data: { seq: 1, instance_id: 'a' } });
    expect(first[0]?.data.node_columns).toEqual(LIVE_NODE_COLUMNS);
    expect(first[0]?.data.nodes).toEqual([
      ['n1', 'ready', 0, 4, false, false, 'a', 'eu', '', '1.2', 'linux', [], ''],
      ['n2', 'ready', 3, 4, false, false, 'a', 'eu', '', '1.2', 'linux', [], ''],
    ]);
    expect(validator(LiveSnapshot)(first[0]?.data)).toMatchObject({ ok: true });
  });

  it('a delta has only what changed', async () => {
    const { feed, add, fleet, attention } = start();
    for (const nodeId of ['n1', 'n2', 'n3', 'n4']) add(nodeId);
    const { stream } = await open(feed);
    fleet.setLoad('n1', { used: 1, max: 4 });
    fleet.upsert(nodeView('n2', { slots: 4, isCordoned: true, orderReason: 'fan' }));
    fleet.remove('n3');
    attention.push({ id: 'x' });
    await feed.sendDelta();
    const [delta] = await read(stream);
    expect(delta).toMatchObject({ event: 'delta', id: 2 });
    expect(delta?.data).toMatchObject({
      loads: [['n1', 1, 4]],
      nodes: [['n2', 'ready', 0, 4, true, false, 'a', 'eu', '', '1.2', 'linux', [], 'fan']],
      removed: ['n3'],
      attention: [{ id: 'x' }],
    });
    await feed.sendDelta();
    const [quiet] = await read(stream);
    expect(Object.keys(quiet?.data).sort()).toEqual(['at_ms', 'instances', 'seq']);
    expect(validator(LiveDelta)(quiet?.data)).toMatchObject({ ok: true });
  });

  it('a node with the number of a removed one is not mixed up with it', async () => {
    const { feed, add, fleet } = start();
    add('n1');
    const { stream } = await open(feed);
    fleet.remove('n1');
    add('n2');
    await feed.sendDelta();
    const [delta] = await read(stream);
    expect(delta?.data.removed).toEqual(['n1']);
    expect(delta?.data.nodes[0][0]).toBe('n2');
  });

  it('I11: a slow viewer gets no delta, and a snapshot as soon as it has read', async () => {
    const { feed, add, fleet, skipped } = start();
    add('n1');
    const { stream } = await open(feed);
    const fast = await open(feed);
    for (let used = 1; used <= 3; used += 1) {
      fleet.setLoad('n1', { used, max: 4 });
      await feed.sendDelta();
      expect(await read(fast.stream)).toMatchObject([{ event: 'delta' }]);
    }
    // The first delta is in its buffer; the two others were left out.
    expect(skipped).toHaveLength(2);
    const unread = stream.readableLength;
    await feed.sendDelta();
    expect(stream.readableLength).toBe(unread);
    expect(await read(stream)).toMatchObject([{ event: 'delta', data: { loads: [['n1', 1, 4]] } }]);
    await feed.sendDelta();
    const [again] = await read(stream);
    expect(again?.event).toBe('snapshot');
    expect(again?.data.nodes[0].slice(0, 4)).toEqual(['n1', 'ready', 3, 4]);
  });

  it('a viewer that comes later gets the state of the last delta', async () => {
    const { feed, add, fleet } = start();
    add('n1');
    const early = await open(feed);
    fleet.setLoad('n1', { used: 2, max: 4 });
    const late = await open(feed);
    await feed.sendDelta();
    for (const stream of [early.stream, late.stream])
      expect((await read(stream))[0]?.data.loads).toEqual([['n1', 2, 4]]);
    expect(late.first[0]).toMatchObject({ id: 1 });
  });

  it('keeps nothing while no viewer is there', async () => {
    const { feed, add } = start();
    add('n1');
    const { stream } = await open(feed);
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(feed.viewers()).toBe(0);
    await feed.sendDelta();
    add('n2');
    const { first } = await open(feed);
    expect(first[0]?.data.nodes.map(([nodeId]: [string]) => nodeId)).toEqual(['n1', 'n2']);
  });

  it('after a fault its viewers are disconnected', async () => {
    const { feed, add, faults, breakRows } = start();
    add('n1');
    const { stream } = await open(feed);
    breakRows();
    add('n2');
    await feed.sendDelta();
    expect(faults).toHaveLength(1);
    stream.resume();
    await new Promise((resolve) => stream.once('end', resolve));
    expect(feed.viewers()).toBe(0);
  });
});
