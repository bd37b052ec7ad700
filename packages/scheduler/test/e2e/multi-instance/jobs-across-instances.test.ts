/** Jobs whose caller, node and reader are on different instances. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { beatIdleUntil, connectLegacyNode } from '../support/legacy-node.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { startInstances } from './start-instances.ts';

describe('several instances on one store', () => {
  it('run jobs on each other’s nodes and show them everywhere', async () => {
    const { instances } = await startInstances(3);
    const [a, b, c] = instances as [(typeof instances)[0], (typeof instances)[0], (typeof instances)[0]];
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await b.readyNodes(1);
    const job = await b.dispatch({ request_id: 'request-1' });
    expect(job.node_id).toBe('node-a');
    const done = await c.settled(job.job_id);
    expect(done).toMatchObject({ result: { text_translated: OUTPUT.text_translated } });
    expect(done.timeline.map(({ state }) => state).slice(0, 5)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
    ]);
    // The same request on any instance is the same job.
    for (const each of instances) {
      expect((await each.dispatch({ request_id: 'request-1' })).job_id).toBe(job.job_id);
    }
  });

  it('stream partial texts of a job to a reader on a third instance', async () => {
    const { instances } = await startInstances(3);
    const [a, b, c] = instances as [(typeof instances)[0], (typeof instances)[0], (typeof instances)[0]];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let partial: ((text: string) => void) | undefined;
    await joinSdkNode({
      url: a.nodeUrl,
      onJob: async (job, context) => {
        if (job.enable_streaming_asr === true) partial = context.partial;
        await ended;
        return OUTPUT;
      },
    });
    await b.readyNodes(1);
    const { job_id } = await b.dispatch({ enable_streaming_asr: true });
    const { body } = await fetch(`${c.url}/v1/job/${job_id}/events`);
    let streamed = '';
    const read = (async () => {
      for await (const part of body ?? []) streamed += Buffer.from(part).toString();
    })();
    await eventually(() => {
      // A text may be lost, and is repeated by the next.
      partial?.('hel');
      return streamed.includes(`event: partial\ndata: {"job_id":"${job_id}","text":"hel","is_final":false}`);
    });
    end();
    await read;
    expect(streamed).toContain(OUTPUT.text_translated);
  });

  it('end a job that the legacy node of another instance never answers', async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const node = connectLegacyNode({ url: a.nodeUrl, nodeId: 'node-a', answer: () => undefined });
    await b.readyNodes(1);
    const job = await b.dispatch({ audio: Buffer.alloc(640, 1).toString('base64') });
    await node.job();
    await beatIdleUntil(node, async () => (await b.job(job.job_id)).reason !== undefined);
    expect(await b.job(job.job_id)).toMatchObject({ outcome: 'failed', reason: 'NO_RESULT' });
    await eventually(async () => (await a.nodes())[0]?.used_slots === 0);
  });

  it('retry a job when its node on another instance is lost', async () => {
    const { instances } = await startInstances(2, { 'scheduler.node_reconnect_grace_ms': 100 });
    const [a, b] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const lost = await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: () => new Promise(() => {}) });
    await b.readyNodes(1);
    const job = await b.dispatch();
    await eventually(async () => (await b.job(job.job_id)).state === 'RUNNING');
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-b', onJob: async () => OUTPUT });
    lost.kill();
    const done = await b.settled(job.job_id);
    expect(done.result).toMatchObject({ text_translated: OUTPUT.text_translated });
  });
});
