/** Results on their way: order, receipts and bounds. */
import { describe, expect, it } from 'vitest';
import { createOutbox, type Outbox } from '../../src/node/outbox.ts';

interface Wire {
  readonly outbox: Outbox;
  readonly sent: string[];
  readonly pings: string[];
  readonly dropped: string[];
  buffered: number;
  isUp: boolean;
}

/** A wire in memory: what is sent arrives here, and a pong is what the test says. */
function createWire(limits: { maxResults?: number; maxBytes?: number } = {}): Wire {
  const sent: string[] = [];
  const pings: string[] = [];
  const dropped: string[] = [];
  const wire = { sent, pings, dropped, buffered: 0, isUp: true };
  const outbox = createOutbox({
    link: {
      send: (text) => {
        if (wire.isUp) sent.push(JSON.parse(text).id);
        return wire.isUp;
      },
      ping: (data) => pings.push(data),
      bufferedBytes: () => wire.buffered,
    },
    limits: { maxResults: 100, maxBytes: 1_000_000, maxBufferedBytes: 1_000, ...limits },
    onDropped: (jobId) => dropped.push(jobId),
  });
  return Object.assign(wire, { outbox });
}

const post = ({ outbox }: Wire, id: string, length = 0): void =>
  outbox.post(id, JSON.stringify({ id, padding: 'x'.repeat(length) }));

describe('outbox', () => {
  it('keeps what it sent until a pong proves that it was read', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    post(wire, 'b');
    expect(wire.sent).toEqual(['a', 'b']);
    expect(wire.pings).toEqual(['1']);
    wire.outbox.confirmed('');
    expect(wire.outbox.keptJobIds()).toEqual(['a', 'b']);
    wire.outbox.confirmed('1');
    expect(wire.outbox.keptJobIds()).toEqual(['b']);
    expect(wire.pings).toEqual(['1', '2']);
    wire.outbox.confirmed('2');
    expect(wire.outbox.counts()).toEqual({ kept: 0, dropped: 0, resent: 0 });
  });

  it('asks again when its pong is lost: later ones overtook it', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    wire.outbox.confirmed('');
    expect(wire.pings).toEqual(['1']);
    wire.outbox.confirmed('');
    expect(wire.pings).toEqual(['1', '1']);
    wire.outbox.confirmed('1');
    expect(wire.outbox.counts()).toMatchObject({ kept: 0 });
    wire.outbox.confirmed('');
    wire.outbox.confirmed('');
    expect(wire.pings).toEqual(['1', '1']);
  });

  it('holds back while the scheduler drops messages, then sends again what was not proved', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    post(wire, 'b');
    wire.outbox.confirmed('1');
    wire.outbox.hold();
    post(wire, 'c');
    expect(wire.sent).toEqual(['a', 'b']);
    expect(wire.outbox.unsentJobIds()).toEqual(['b', 'c']);
    wire.outbox.goOn();
    expect(wire.sent).toEqual(['a', 'b', 'b', 'c']);
    wire.outbox.confirmed('4');
    expect(wire.outbox.counts()).toEqual({ kept: 0, dropped: 0, resent: 1 });
  });

  it('sends what was not proved again, before what is new', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    wire.outbox.lost(1006);
    post(wire, 'b');
    expect(wire.outbox.unsentJobIds()).toEqual(['a', 'b']);
    wire.outbox.connected('node-1');
    expect(wire.sent).toEqual(['a', 'a', 'b']);
    expect(wire.outbox.counts()).toMatchObject({ kept: 2, resent: 1 });
  });

  it('waits while the socket is full, and goes on when it has room', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    wire.buffered = 2_000;
    post(wire, 'a');
    expect(wire.sent).toEqual([]);
    wire.buffered = 0;
    wire.outbox.confirmed(wire.pings[0] ?? '');
    expect(wire.sent).toEqual(['a']);
  });

  it('drops the oldest beyond its number', () => {
    const wire = createWire({ maxResults: 2 });
    for (const id of ['a', 'b', 'c', 'd']) post(wire, id);
    expect(wire.dropped).toEqual(['a', 'b']);
    expect(wire.outbox.unsentJobIds()).toEqual(['c', 'd']);
    expect(wire.outbox.counts()).toMatchObject({ kept: 2, dropped: 2 });
  });

  it('drops the oldest beyond its bytes', () => {
    const wire = createWire({ maxBytes: 200 });
    for (const id of ['a', 'b', 'c']) post(wire, id, 100);
    expect(wire.dropped).toEqual(['a', 'b']);
    post(wire, 'huge', 1_000);
    expect(wire.dropped).toEqual(['a', 'b', 'c', 'huge']);
    post(wire, 'd', 100);
    expect(wire.outbox.keptJobIds()).toEqual(['d']);
  });

  it('forgets what was sent before it drops what was not, and does not call that a loss', () => {
    const wire = createWire({ maxResults: 2 });
    wire.outbox.connected('node-1');
    post(wire, 'a');
    post(wire, 'b');
    post(wire, 'c');
    expect(wire.sent).toEqual(['a', 'b', 'c']);
    expect(wire.outbox.counts()).toMatchObject({ kept: 2, dropped: 0 });
  });

  it('gives up a result that was sent five times in vain', () => {
    const wire = createWire();
    post(wire, 'a');
    for (let times = 0; times < 6; times += 1) {
      wire.outbox.connected('node-1');
      wire.outbox.lost(1006);
    }
    expect(wire.sent).toHaveLength(5);
    expect(wire.dropped).toEqual(['a']);
  });

  it('gives up the longest when the scheduler says that one was too long', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'short');
    post(wire, 'long', 500);
    wire.outbox.lost(1009);
    expect(wire.dropped).toEqual(['long']);
    expect(wire.outbox.unsentJobIds()).toEqual(['short']);
  });

  it('is settled when everything has arrived, or when it is closed', async () => {
    const wire = createWire();
    await wire.outbox.settled();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    const arrived = wire.outbox.settled();
    wire.outbox.confirmed('1');
    await arrived;
    post(wire, 'b');
    const closed = wire.outbox.settled();
    wire.outbox.close();
    await closed;
  });
});
