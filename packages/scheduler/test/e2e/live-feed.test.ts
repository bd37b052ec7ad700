/** What the console shows of one instance: the live feed and the history, over HTTP. */
import {
  type HistoryReply,
  HistoryReply as HistorySchema,
  LiveDelta,
  LiveSnapshot,
  validator,
} from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { watchLive } from './support/live-stream.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

describe('GET /api/v1/live', () => {
  it('shows a job in the figures of the next seconds, and its node', async () => {
    const app = await startApp();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob: () => OUTPUT });
    await app.readyNodes(1);
    const live = await watchLive(app.url);
    expect(live.headers.get('content-type')).toMatch('text/event-stream');
    const { event, data } = await live.next();
    expect(event).toBe('snapshot');
    expect(validator(LiveSnapshot)(data)).toMatchObject({ ok: true });
    expect(data.nodes.map((row) => row.slice(0, 2))).toEqual([['node-1', 'ready']]);
    expect(data.attention).toEqual([]);

    const { job_id } = await app.dispatch();
    await app.settled(job_id);
    const counted = await live.next(({ data: { figures } }) => (figures?.finished ?? 0) > 0);
    expect(validator(LiveDelta)(counted.data)).toMatchObject({ ok: true });
    expect(counted.data.figures?.stages.total?.count).toBe(1);
  });

  it('says what needs attention', async () => {
    const app = await startApp();
    const live = await watchLive(app.url);
    const { data } = await live.next();
    expect(data.attention).toMatchObject([{ id: 'no_ready_node', runbook: 'LinguaNoReadyNode' }]);
    await app.tryDispatch();
    const { data: later } = await live.next(({ data: { attention } }) => attention !== undefined);
    expect(later.attention?.map(({ id }) => id)).toEqual(['no_ready_node', 'jobs_refused']);
  });

  it('ends after the snapshot if asked to', async () => {
    const { url } = await startApp();
    const text = await (await fetch(`${url}/api/v1/live?once=true`)).text();
    expect(text.match(/^event: /gm)).toHaveLength(1);
  });

  it('ends when the instance stops', async () => {
    const { url, app } = await startApp();
    const live = await watchLive(url);
    await live.next();
    await app.stop();
    await expect(live.next(() => false)).rejects.toThrow(/ended|terminated/);
  });
});

describe('GET /api/v1/history', () => {
  it('has the seconds since the start', async () => {
    const app = await startApp();
    await app.tryDispatch();
    const read = (query: string) => app.get<HistoryReply>(`/api/v1/history${query}`);
    const { body } = await eventually(async () => {
      const reply = await read('?step=1');
      return reply.body.points.length >= 2 ? reply : undefined;
    });
    expect(validator(HistorySchema)(body)).toMatchObject({ ok: true });
    expect(body.points.flatMap(({ refused }) => Object.entries(refused))).toEqual([['NO_CAPABLE_NODE', 1]]);
    const since = body.points[0]?.at_ms;
    const later = await read(`?step=1&since_ms=${since}`);
    expect(later.body.points[0]).toEqual(body.points[1]);
    expect((await read('?step=2')).body).toMatchObject({ error: 'INVALID_MESSAGE' });
  });
});
