/** Results in the outbox: order, confirmation and limits. */
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

/** A connection in memory: sent messages arrive here, and the test decides about pongs. */
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

describe('result outbox', () => {
  it('a sent result is kept until a pong confirms it', () => {
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

  it('a new ping is sent when later pongs overtook ours', () => {
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

  it('no result is sent while the scheduler drops messages, then unconfirmed ones are resent', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'a');
    post(wire, 'b');
    wire.outbox.confirmed('1');
    wire.outbox.pause();
    post(wire, 'c');
    expect(wire.sent).toEqual(['a', 'b']);
    expect(wire.outbox.unsentJobIds()).toEqual(['b', 'c']);
    wire.outbox.resume();
    expect(wire.sent).toEqual(['a', 'b', 'b', 'c']);
    wire.outbox.confirmed('4');
    expect(wire.outbox.counts()).toEqual({ kept: 0, dropped: 0, resent: 1 });
  });

  it('unconfirmed results are resent before new ones', () => {
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

  it('sending waits while the socket is full', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    wire.buffered = 2_000;
    post(wire, 'a');
    expect(wire.sent).toEqual([]);
    wire.buffered = 0;
    wire.outbox.confirmed(wire.pings[0] ?? '');
    expect(wire.sent).toEqual(['a']);
  });

  it('the oldest result beyond the count is dropped', () => {
    const wire = createWire({ maxResults: 2 });
    for (const id of ['a', 'b', 'c', 'd']) post(wire, id);
    expect(wire.dropped).toEqual(['a', 'b']);
    expect(wire.outbox.unsentJobIds()).toEqual(['c', 'd']);
    expect(wire.outbox.counts()).toMatchObject({ kept: 2, dropped: 2 });
  });

  it('the oldest result beyond the bytes is dropped', () => {
    const wire = createWire({ maxBytes: 200 });
    for (const id of ['a', 'b', 'c']) post(wire, id, 100);
    expect(wire.dropped).toEqual(['a', 'b']);
    post(wire, 'huge', 1_000);
    expect(wire.dropped).toEqual(['a', 'b', 'c', 'huge']);
    post(wire, 'd', 100);
    expect(wire.outbox.keptJobIds()).toEqual(['d']);
  });

  it('sent results are evicted before unsent ones, and not counted as dropped', () => {
    const wire = createWire({ maxResults: 2 });
    wire.outbox.connected('node-1');
    post(wire, 'a');
    post(wire, 'b');
    post(wire, 'c');
    expect(wire.sent).toEqual(['a', 'b', 'c']);
    expect(wire.outbox.counts()).toMatchObject({ kept: 2, dropped: 0 });
  });

  it('a result is dropped after five failed sends', () => {
    const wire = createWire();
    post(wire, 'a');
    for (let times = 0; times < 6; times += 1) {
      wire.outbox.connected('node-1');
      wire.outbox.lost(1006);
    }
    expect(wire.sent).toHaveLength(5);
    expect(wire.dropped).toEqual(['a']);
  });

  it('the longest result is dropped when the scheduler rejects one as too long', () => {
    const wire = createWire();
    wire.outbox.connected('node-1');
    post(wire, 'short');
    post(wire, 'long', 500);
    wire.outbox.lost(1009);
    expect(wire.dropped).toEqual(['long']);
    expect(wire.outbox.unsentJobIds()).toEqual(['short']);
  });

  it('settled() resolves when all results are confirmed or the outbox closes', async () => {
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
