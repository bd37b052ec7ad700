/** The node replica when instances die and nodes reconnect. */
import { describe, expect, it } from 'vitest';
import { createTestCluster } from '../../support/test-cluster.ts';
import { joinReplica, ownNode, SETTINGS } from './node-replica-rig.ts';

async function startPair() {
  const {
    clock,
    store: { nodeRecords },
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  const a = joinReplica({ nodeRecords, clock, name: 'a' });
  const b = joinReplica({ nodeRecords, clock, name: 'b' });
  await Promise.all([a.replica.start(), b.replica.start()]);
  return { clock, a, b };
}

describe('nodes of an instance that died', () => {
  it('on its sockets are removed at once, before their records expire', async () => {
    const { clock, a, b } = await startPair();
    const [socket, endpoint] = [ownNode(), ownNode({ channel: 'endpoint', endpoint: 'http://10.0.0.1/' })];
    a.replica.keep(socket);
    a.replica.keep(endpoint);
    await clock.advance(1);
    b.replica.removeNodesOf('a');
    expect(b.received.removed).toEqual([socket.nodeId]);
    await clock.advance(SETTINGS.verifyMs);
    expect([...b.views.keys()]).toEqual([endpoint.nodeId]);
    expect(b.replica.find(socket.nodeId)).toBeUndefined();
  });

  it('return with the next connection, at any instance', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    b.replica.removeNodesOf('a');
    a.connection.incarnation = 'second';
    a.replica.keep({ ...node, generation: 2 });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({ generation: 2, holder: { incarnation: 'second' } });
  });

  it('return if the instance lives on under the same incarnation', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    b.replica.removeNodesOf('a');
    b.replica.seen(new Map([['a', { instanceId: 'a', incarnation: 'second' }]]));
    await clock.advance(SETTINGS.tickMs);
    expect(b.replica.find(node.nodeId)).toBeUndefined();
    b.replica.seen(new Map([['a', { instanceId: 'a', incarnation: 'first' }]]));
    await clock.advance(SETTINGS.tickMs);
    expect(b.replica.find(node.nodeId)).toMatchObject({ holder: { incarnation: 'first' } });
  });
});

describe('the record of a node that connects', () => {
  it('keeps its running jobs although the record changed again', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode({ runningJobIds: ['job-1'] });
    a.replica.keep(node);
    const { runningJobIds: _, ...later } = node;
    a.replica.keep({ ...later, view: { ...node.view, isCalm: false } });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({ runningJobIds: ['job-1'], view: { isCalm: false } });
  });

  it('drops the running jobs with the next connection', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode({ runningJobIds: ['job-1'] });
    a.replica.keep(node);
    const { runningJobIds: _, ...later } = node;
    a.replica.keep({ ...later, generation: 2 });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)?.generation).toBe(2);
    expect(b.replica.find(node.nodeId)?.runningJobIds).toBeUndefined();
  });

  it('shows that the connection was lost', async () => {
    const { clock, a, b } = await startPair();
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    a.replica.keep({ ...node, view: { ...node.view, isConnected: false } });
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)?.view.isConnected).toBe(false);
  });
});

it('a node that connects here during a read of its record stays here', async () => {
  const {
    clock,
    store: { nodeRecords },
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  const read: typeof nodeRecords.read = async (requested) => {
    const answer = await nodeRecords.read(requested);
    await new Promise<void>((resolve) => clock.after(10, resolve));
    return answer;
  };
  const a = joinReplica({ nodeRecords, clock, name: 'a' });
  const b = joinReplica({ nodeRecords: { ...nodeRecords, read }, clock, name: 'b' });
  await Promise.all([a.replica.start(), b.replica.start()]);
  const node = ownNode();
  a.replica.keep(node);
  await clock.advance(5);
  expect(b.calls.read).toBe(1);
  b.replica.keep({ ...node, generation: 2 });
  await clock.advance(10);
  expect([b.received.overtaken, b.replica.stats().own]).toEqual([[], 1]);
});
