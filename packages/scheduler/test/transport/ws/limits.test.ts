import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, SETTINGS, startHarness, until } from './harness.ts';
import { heartbeat, jobResult, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

const cuts = (reason: string) => harness.meter.total('scheduler_connections_cut_total', { reason });

describe('limits of a socket', () => {
  it('a message that is too long gets PAYLOAD_TOO_LARGE and close code 1009', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send({ ...register(), version: 'x'.repeat(SETTINGS.maxNodeMessageBytes) });
    expect(await client.closed).toMatchObject({ code: 1009 });
    const limit = SETTINGS.maxNodeMessageBytes;
    expect(client.received).toMatchObject([
      {
        type: 'error',
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringMatching(`${limit} bytes .*server.limits.max_node_message_bytes`),
        details: { max_message_bytes: limit },
      },
    ]);
    expect(cuts('payload_too_large')).toBe(1);
  });

  it('an invalid message names its field, and several close the socket', async () => {
    harness = await startHarness({ settings: { maxInvalidMessages: 3 } });
    const client = await harness.connect();
    client.send('{"type":');
    client.send({ type: 'node_registre' });
    client.send({ ...heartbeat('node-a'), timestamp: 'late' });
    const [malformed, unknown, wrong] = [
      await client.message(0),
      await client.message(1),
      await client.message(2),
    ];
    expect(malformed).toMatchObject({ code: 'INVALID_MESSAGE', details: { path: '' } });
    expect(unknown).toMatchObject({ code: 'INVALID_MESSAGE', details: { path: '/type' } });
    expect(wrong).toMatchObject({ code: 'INVALID_MESSAGE', details: { path: '/timestamp' } });
    client.send(register());
    expect(await client.message(3)).toMatchObject({ type: 'node_register_ack' });
    client.send('[]');
    expect(await client.closed).toEqual({ code: 1008, reason: 'invalid_messages' });
    expect(harness.meter.total('scheduler_invalid_messages_total', { edge: 'ws_node' })).toBe(4);
  });

  it("one invalid message per heartbeat does not close a node's socket", async () => {
    harness = await startHarness({ settings: { maxInvalidMessages: 3, pingIntervalMs: 1e9 } });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    for (let beat = 1; beat <= 12; beat += 1) {
      client.send({ type: 'node_mood' });
      expect(await client.message(beat)).toMatchObject({ code: 'INVALID_MESSAGE' });
      harness.clock.advance(15_000);
    }
    expect(cuts('invalid_messages')).toBe(0);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
  });

  it('binary frames count as invalid', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.ws.send(Buffer.from(JSON.stringify(register())));
    expect(await client.message(0)).toMatchObject({ code: 'INVALID_MESSAGE' });
    expect(harness.registry.registrations).toEqual([]);
  });

  it('excess messages get one RATE_LIMITED, are dropped, then close the socket', async () => {
    harness = await startHarness({ messages: 2, settings: { maxDroppedMessages: 5 } });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    client.send(heartbeat('node-a'));
    for (let excess = 0; excess < 5; excess += 1) client.send(heartbeat('node-a'));
    expect(await client.message(1)).toMatchObject({ type: 'error', code: 'RATE_LIMITED' });
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    client.send(heartbeat('node-a'));
    expect(await client.closed).toEqual({ code: 1008, reason: 'rate_limited' });
    expect(client.received).toHaveLength(2);
    expect(harness.registry.beats).toHaveLength(1);
  });

  it('a session over its rate is slowed down without losing messages', async () => {
    const heard: string[] = [];
    harness = await startHarness({
      messages: 3,
      deps: {
        session: {
          path: '/ws/session',
          kind: 'session',
          role: 'client',
          maxMessageBytes: 1_024,
          open: () => ({ receive: (text) => void heard.push(text), left() {}, ended() {} }),
        },
      },
    });
    const client = await harness.connect('/ws/session');
    for (const word of ['1', '2', '3', '4']) client.ws.send(word);
    await until(() => heard.length === 4);
    client.ws.send('5');
    // A reply to another connection after this was received after it.
    const other = await harness.connect();
    other.send(register({ node_id: 'node-a' }));
    await other.message(0);
    expect(heard).toHaveLength(4);
    harness.clock.advance(100);
    await until(() => heard.length === 5);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    expect(client.received).toMatchObject([{ type: 'error', code: 'RATE_LIMITED' }]);
  });

  it('pings count as messages, so a flood closes the socket', async () => {
    harness = await startHarness({ messages: 3, settings: { maxDroppedMessages: 2 } });
    const client = await harness.connect();
    const pongs: string[] = [];
    client.ws.on('pong', (data) => pongs.push(data.toString()));
    for (const data of ['1', '2', '3', '4', '5', '6']) client.ws.ping(data);
    expect(await client.closed).toEqual({ code: 1008, reason: 'rate_limited' });
    expect(pongs).toEqual(['1', '2', '3']);
  });

  it('a node that does not register in time is closed', async () => {
    harness = await startHarness();
    const [silent, prompt] = [await harness.connect(), await harness.connect()];
    prompt.send(register());
    await prompt.message(0);
    harness.clock.advance(SETTINGS.registrationDeadlineMs - 1);
    expect(cuts('registration_deadline')).toBe(0);
    harness.clock.advance(1);
    expect(await silent.closed).toEqual({ code: 4401, reason: 'registration_deadline' });
    expect(cuts('registration_deadline')).toBe(1);
  });

  it('a peer that is silent for two ping intervals is dropped', async () => {
    harness = await startHarness({ settings: { registrationDeadlineMs: 1e9 } });
    const dead = await harness.connect('/ws/node', { autoPong: false });
    const alive = await harness.connect();
    const stream = harness.connections[1];
    for (let beats = 0; beats < 4; beats += 1) {
      const before = stream?.bytesRead ?? 0;
      harness.clock.advance(SETTINGS.pingIntervalMs);
      await until(() => (stream?.bytesRead ?? 0) > before);
    }
    expect((await dead.closed).code).toBe(1006);
    expect(cuts('dead_peer')).toBe(1);
    expect(alive.ws.readyState).toBe(alive.ws.OPEN);
  });

  it('a slow reader is closed with 1013', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    client.ws.pause();
    const reason = 'x'.repeat(64 * 1024);
    await until(() => {
      for (let sent = 0; sent < 16; sent += 1) {
        if (!harness.sockets.send('node-a', { type: 'node_control', command: 'noise', reason })) return true;
      }
      return false;
    });
    expect(cuts('too_slow')).toBe(1);
    client.ws.resume();
    expect(await client.closed).toEqual({ code: 1013, reason: 'too_slow' });
  });

  it('a closed peer that sends no close frame is terminated', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.ws.pause();
    harness.clock.advance(SETTINGS.registrationDeadlineMs);
    expect(harness.gate.open).toBe(1);
    harness.clock.advance(SETTINGS.closeTimeoutMs);
    await until(() => harness.gate.open === 0);
  });

  it('a peer whose token was revoked is terminated within a second', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.ws.pause();
    for (const end of harness.gate.ends) end('revoked');
    const [connection] = harness.connections;
    expect(connection?.destroyed).toBe(false);
    harness.clock.advance(999);
    expect(connection?.destroyed).toBe(true);
  });

  it('a message above the buffer limit reaches a reader that keeps up', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    const reason = 'x'.repeat(4 * SETTINGS.maxBufferedBytes);
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'noise', reason })).toBe(true);
    expect((await client.message(1)).reason).toHaveLength(reason.length);
  });

  it('reading pauses while too much is queued, without loss or false death', async () => {
    const messages = 64;
    harness = await startHarness({
      settings: { maxNodeMessageBytes: 1024 * 1024, maxWaitingBytes: 256 * 1024 },
    });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    harness.jobs.before = () => gate;
    const tts_audio = 'A'.repeat(256 * 1024);
    for (let sent = 0; sent < messages; sent += 1)
      client.send(jobResult('node-a', { job_id: `job-${sent}`, tts_audio }));
    await until(() => harness.connections[0]?.isPaused() === true);
    await until(() => client.ws.bufferedAmount > 0);
    for (let silentChecks = 0; silentChecks < 5; silentChecks += 1)
      harness.clock.advance(SETTINGS.pingIntervalMs);
    expect(cuts('dead_peer')).toBe(0);
    release();
    await until(() => harness.jobs.calls.length === messages);
    expect(harness.jobs.calls.map(({ answer }) => answer.jobId)).toEqual(
      Array.from({ length: messages }, (_, at) => `job-${at}`),
    );
  });

  it('a slow reader gets no pongs and is closed', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    client.ws.pause();
    // More than the system buffers for a peer that does not read.
    const reason = 'x'.repeat(64 * 1024 * 1024);
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'noise', reason })).toBe(true);
    expect(cuts('too_slow')).toBe(0);
    client.ws.ping();
    await until(() => cuts('too_slow') === 1);
  });

  it('a slow reader gets no pings and is closed', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    client.ws.pause();
    const reason = 'x'.repeat(64 * 1024 * 1024);
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'noise', reason })).toBe(true);
    expect(cuts('too_slow')).toBe(0);
    harness.clock.advance(SETTINGS.pingIntervalMs);
    expect(cuts('too_slow')).toBe(1);
  });

  it('the close frame of a peer is read while reading is paused', async () => {
    harness = await startHarness({
      settings: { maxNodeMessageBytes: 1024 * 1024, maxWaitingBytes: 256 * 1024 },
    });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    harness.jobs.before = () => gate;
    const tts_audio = 'A'.repeat(256 * 1024);
    for (let sent = 0; sent < 8; sent += 1)
      client.send(jobResult('node-a', { job_id: `job-${sent}`, tts_audio }));
    await until(() => harness.connections[0]?.isPaused() === true);
    const successor = await harness.connect();
    successor.send(register({ node_id: 'node-a' }));
    // The clock does not advance, so no timeout terminates the connection: it ends by both close frames.
    await until(() => harness.connections[0]?.destroyed === true).finally(release);
    expect(await client.closed).toEqual({ code: 4000, reason: 'replaced' });
  });
});
