/** The replica of the fleet when instances die and nodes come back: whose socket is gone, and what a node said when it returned. */
import { describe, expect, it } from 'vitest';
import { createTestCluster } from '../../support/test-cluster.ts';
import { joinBoard, ownNode, SETTINGS } from './node-replica-rig.ts';

async function startPair() {
  const {
    clock,
    store: { board },
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  const a = joinBoard({ board, clock, name: 'a' });
  const b = joinBoard({ board, clock, name: 'b' });
  await Promise.all([a.replica.start(), b.replica.start()]);
  return { clock, a, b };
}

describe('nodes of an instance that died', () => {
  it('are gone at once if they hung on its sockets, and stay gone though their node records have not expired', async () => {
    const { clock, a, b } = await startPair();
    const [socket, endpoint] = [ownNode(), ownNode({ channel: 'endpoint', endpoint: 'http://10.0.0.1/' })];
    a.replica.keep(socket);
    a.replica.keep(endpoint);
    await clock.advance(1);
    b.replica.disown('a');
    expect(b.heard.removed).toEqual([socket.nodeId]);
    await clock.advance(SETTINGS.verifyMs);
    expect([...b.views.keys()]).toEqual([endpoint.nodeId]);
    expect(b.replica.find(socket.nodeId)).toBeUndefined();
  });

  it('are back with the next connection, wherever that is', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    b.replica.disown('a');
    a.way.incarnation = 'second';
    a.replica.keep({ ...node, generation: 2 });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({ generation: 2, holder: { incarnation: 'second' } });
  });

  it('are back if it lives on under the incarnation that was declared dead, because the store forgot that it was', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    b.replica.disown('a');
    b.replica.seen(new Map([['a', { instanceId: 'a', incarnation: 'second' }]]));
    await clock.advance(SETTINGS.tickMs);
    expect(b.replica.find(node.nodeId)).toBeUndefined();
    b.replica.seen(new Map([['a', { instanceId: 'a', incarnation: 'first' }]]));
    await clock.advance(SETTINGS.tickMs);
    expect(b.replica.find(node.nodeId)).toMatchObject({ holder: { incarnation: 'first' } });
  });
});

describe('what a node said when it connected', () => {
  it('is told to the others, also if more changed before they looked', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode({ runningJobIds: ['job-1'] });
    a.replica.keep(node);
    const { runningJobIds: _, ...later } = node;
    a.replica.keep({ ...later, view: { ...node.view, isCalm: false } });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({ runningJobIds: ['job-1'], view: { isCalm: false } });
  });

  it('does not outlive its connection', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode({ runningJobIds: ['job-1'] });
    a.replica.keep(node);
    const { runningJobIds: _, ...later } = node;
    a.replica.keep({ ...later, generation: 2 });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)?.generation).toBe(2);
    expect(b.replica.find(node.nodeId)?.runningJobIds).toBeUndefined();
  });

  it('says so when its connection is lost', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    a.replica.keep({ ...node, isConnected: false });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)?.isConnected).toBe(false);
  });
});

it('a node that connects here while the board is asked about its connection elsewhere stays here', async () => {
  const {
    clock,
    store: { board },
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  const read: typeof board.read = async (asked) => {
    const answer = await board.read(asked);
    await new Promise<void>((resolve) => clock.after(10, resolve));
    return answer;
  };
  const a = joinBoard({ board, clock, name: 'a' });
  const b = joinBoard({ board: { ...board, read }, clock, name: 'b' });
  await Promise.all([a.replica.start(), b.replica.start()]);
  const node = ownNode();
  a.replica.keep(node);
  await clock.advance(5);
  expect(b.calls.read).toBe(1);
  b.replica.keep({ ...node, generation: 2 });
  await clock.advance(10);
  expect([b.heard.overtaken, b.replica.stats().own]).toEqual([[], 1]);
});
