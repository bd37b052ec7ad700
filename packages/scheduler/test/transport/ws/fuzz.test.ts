import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness, until } from './harness.ts';
import { heartbeat, jobResult, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

const HANDSHAKE =
  'GET /ws/node HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

const VALID = [register({ node_id: 'node-x' }), heartbeat('node-x'), jobResult('node-x')];

/** A valid message with one part replaced by any value. */
const mutated = fc.tuple(fc.constantFrom(...VALID), fc.nat(), fc.jsonValue()).map(([message, at, value]) => {
  const keys = Object.keys(message);
  return JSON.stringify({ ...message, [keys[at % keys.length] ?? 'type']: value });
});

const truncated = fc
  .tuple(fc.constantFrom(...VALID), fc.nat())
  .map(([message, at]) => JSON.stringify(message).slice(0, at % JSON.stringify(message).length));

const frame: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  mutated,
  truncated,
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom(...VALID.map((message) => JSON.stringify(message))),
  fc.constantFrom(
    '{"type":"constructor"}',
    '{"__proto__":{"type":"x"}}',
    'null',
    '[]',
    '""',
    '['.repeat(10_000),
  ),
);

describe('arbitrary input of a peer', () => {
  it('random messages harm neither the server nor other connections', async () => {
    harness = await startHarness({ settings: { maxInvalidMessages: 1_000 } });
    const witness = await harness.connect();
    witness.send(register({ node_id: 'node-witness' }));
    await witness.message(0);
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 20 }), async (frames) => {
        const client = await harness.connect();
        for (const data of frames) client.ws.send(data);
        const pong = new Promise((resolve) => client.ws.once('pong', resolve));
        client.ws.ping();
        // An unreadable registration ends the connection.
        await Promise.race([pong, client.closed]);
        client.ws.close();
        await client.closed;
        const beats = harness.registry.beats.length;
        witness.send(heartbeat('node-witness'));
        await until(() => harness.registry.beats.length > beats);
      }),
      { numRuns: 60 },
    );
    expect(witness.ws.readyState).toBe(witness.ws.OPEN);
    await until(() => harness.gate.open === 1);
    expect(harness.log.lines.filter(({ message }) => message === 'a message could not be handled')).toEqual(
      [],
    );
  });

  it('random bytes harm neither the server nor other connections', async () => {
    harness = await startHarness();
    const witness = await harness.connect();
    witness.send(register({ node_id: 'node-witness' }));
    await witness.message(0);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constant(HANDSHAKE), fc.string({ maxLength: 50 })),
        fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 }),
        async (opening, pieces) => {
          const raw = connect(harness.port, '127.0.0.1');
          const gone = new Promise((resolve) => raw.once('close', resolve));
          raw.on('error', () => {});
          raw.resume();
          raw.write(opening);
          for (const piece of pieces) raw.write(piece);
          raw.end();
          await until(() => raw.writableFinished || raw.destroyed);
          raw.destroy();
          await gone;
          const beats = harness.registry.beats.length;
          witness.send(heartbeat('node-witness'));
          await until(() => harness.registry.beats.length > beats);
        },
      ),
      { numRuns: 60 },
    );
    expect(witness.ws.readyState).toBe(witness.ws.OPEN);
    await until(() => harness.gate.open === 1);
  });
});
