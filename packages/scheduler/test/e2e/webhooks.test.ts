/** Webhooks, from the configuration to a receiver's HTTP server. */
import type { RoomView } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { LOCAL, receiverRow, SECRET, startReceiver } from '../webhooks/receiver.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { SHORT_TIMES, startApp } from './support/start-app.ts';

const ACME = 'tenant_id = "acme"';

async function startWith(toml: string, settings = {}) {
  const app = await startApp(settings, LOCAL + toml);
  const node = await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob: async () => OUTPUT });
  await app.readyNodes(1);
  return { app, node };
}

describe('webhooks', () => {
  it('a tenant gets one signed event per job, without texts', async () => {
    const receiver = await startReceiver();
    const { app } = await startWith(receiverRow(receiver.url, ACME));
    const { job_id } = await app.dispatch({ tenant_id: 'acme', request_id: 'r-1' });
    await app.settled((await app.dispatch({ tenant_id: 'other' })).job_id);
    const [event] = await receiver.events(1);
    expect(event).toMatchObject({
      id: `job_ended:${job_id}`,
      type: 'job_ended',
      tenant_id: 'acme',
      data: { job_id, outcome: 'finished', request_id: 'r-1', src_lang: 'en', tgt_lang: 'zh' },
    });
    expect(JSON.stringify(event)).not.toContain(OUTPUT.text_asr);
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.isGenuine).toBe(true);
  });

  it('a tenant gets one event per room that ends, and until when a recorded one can be read', async () => {
    const receiver = await startReceiver();
    const app = await startApp({ 'rooms.log_ttl_ms': 600_000 }, LOCAL + receiverRow(receiver.url, ACME));
    const open = async (tenant_id: string, recorded = false) =>
      (await app.post<RoomView>('/v1/rooms', { tenant_id, recorded })).body.room_id;
    const end = async (tenant: string, roomId: string) =>
      (await app.remove(`/v1/rooms/${roomId}?tenant_id=${tenant}`)).status;
    const [recorded, other] = [await open('acme', true), await open('acme')];
    expect(await end('beta', await open('beta'))).toBe(200);
    expect([await end('acme', recorded), await end('acme', recorded), await end('acme', other)]).toEqual([
      200, 404, 200,
    ]);
    const events = await receiver.events(2);
    expect(events.map(({ id }) => id).sort()).toEqual(
      [`room_ended:${recorded}`, `room_ended:${other}`].sort(),
    );
    const about = (roomId: string) => events.find(({ id }) => id.endsWith(roomId));
    const { at_ms: at = 0 } = about(recorded) ?? {};
    expect(about(recorded)).toMatchObject({
      tenant_id: 'acme',
      data: { reason: 'ended', recorded: true, transcript_until_ms: at + 600_000 },
    });
    expect(about(other)?.data).toEqual({
      room_id: other,
      reason: 'ended',
      created_at_ms: expect.any(Number),
      recorded: false,
    });
    expect(receiver.received).toHaveLength(2);
  });

  it('the documented check refuses another secret, a changed body and an old time', async () => {
    const receiver = await startReceiver();
    const { app } = await startWith(receiverRow(receiver.url, ACME, 'texts = true'));
    await app.dispatch({ tenant_id: 'acme' });
    const [event] = await receiver.events(1);
    expect(event?.data).toMatchObject(OUTPUT);
    const headers = receiver.received[0]?.headers ?? {};
    const body = Buffer.from(JSON.stringify(event));
    expect(receiver.isGenuine(SECRET, headers, body)).toBe(true);
    expect(receiver.isGenuine(SECRET.toUpperCase(), headers, body)).toBe(false);
    expect(receiver.isGenuine(SECRET, headers, Buffer.concat([body, Buffer.from(' ')]))).toBe(false);
    const old = `${Number(headers['x-lingua-timestamp']) - 301}`;
    expect(receiver.isGenuine(SECRET, { ...headers, 'x-lingua-timestamp': old }, body)).toBe(false);
  });

  it('an event that is refused comes again with the same id', async () => {
    const receiver = await startReceiver({ statuses: [500] });
    const { app } = await startWith(receiverRow(receiver.url, ACME));
    await app.dispatch({ tenant_id: 'acme' });
    const [first, second] = await receiver.events(2);
    expect(second).toEqual(first);
    expect(receiver.received[1]?.isGenuine).toBe(true);
  });

  it('redirects are not followed', async () => {
    const receiver = await startReceiver({ statuses: [307, 307, 307] });
    const { app } = await startWith(receiverRow(receiver.url, ACME), { 'webhooks.retry_for_ms': 0 });
    await app.dispatch({ tenant_id: 'acme' });
    await eventually(() => app.log.some((line) => line.includes('"why":"redirect"')) || undefined);
    expect(receiver.received).toHaveLength(1);
  });

  it('operators hear of a killed node, and not of a removed one', async () => {
    const receiver = await startReceiver();
    const { app, node } = await startWith(receiverRow(receiver.url), SHORT_TIMES);
    const other = await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-2', onJob: async () => OUTPUT });
    await app.readyNodes(2);
    await app.remove('/v1/node/node-2');
    await other.stop();
    node.kill();
    expect(await receiver.events(1)).toMatchObject([{ type: 'node_lost', data: { node_id: 'node-1' } }]);
  });

  it('operators hear once that a tenant reached a limit', async () => {
    const receiver = await startReceiver();
    const { app } = await startWith(receiverRow(receiver.url), {
      'scheduler.tenant_limits.max_inflight_jobs': 0,
    });
    for (let count = 0; count < 3; count += 1)
      expect((await app.tryDispatch({ tenant_id: 'acme' })).status).toBe(429);
    expect(await receiver.events(1)).toMatchObject([
      { type: 'quota_reached', data: { tenant_id: 'acme', limit: 'inflight' } },
    ]);
    await app.tryDispatch({ tenant_id: 'beta' });
    expect(await receiver.events(2)).toMatchObject([{}, { data: { tenant_id: 'beta' } }]);
  });

  it('a reload adds and removes receivers', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()];
    let file = LOCAL + receiverRow(first.url, ACME);
    const app = await startApp({}, file, () => file);
    await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
    await app.readyNodes(1);
    await app.dispatch({ tenant_id: 'acme' });
    await first.events(1);
    file = LOCAL + receiverRow(second.url, ACME);
    expect(await app.app.reload()).toMatchObject({ kind: 'reloaded', needRestart: [] });
    await app.dispatch({ tenant_id: 'acme' });
    await second.events(1);
    expect(first.received).toHaveLength(1);
  });
});
