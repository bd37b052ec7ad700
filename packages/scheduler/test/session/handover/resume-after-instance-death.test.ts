/** A client resumes on another instance, because its own died, drains, or is slow. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';

async function speakingClient(
  rig: InstancesRig,
  texts: readonly string[],
  reportsReceived = true,
): Promise<MovingClient> {
  const client = createMovingClient({}, 'client', reportsReceived);
  await client.connect(rig.instance('a'));
  for (const text of texts) {
    client.say(text);
    client.end();
    client.pump();
  }
  await rig.quiet();
  return client;
}

async function moveTo(rig: InstancesRig, client: MovingClient, name: string): Promise<void> {
  client.leave();
  const connecting = client.connect(rig.instance(name));
  await rig.clock.advance(2_000);
  expect(await connecting).toBe('opened');
  client.pump();
  await rig.quiet();
}

describe('a session whose instance died', () => {
  it('another instance delivers each outcome once and in order', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, ['one', 'two', 'three']);
    expect([...client.accepted]).toEqual([0, 1, 2]);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
    rig.kill('a');
    rig.jobs.job('two').finish();
    await moveTo(rig, client, 'b');
    expect(client.sent[0]).toMatchObject({ kind: 'opened', isResumed: true, hasMoved: true });
    expect(client.received).toEqual(['0:one', '1:two']);
    rig.jobs.job('three').finish();
    await rig.quiet();
    client.say('four');
    client.end();
    client.pump();
    rig.jobs.job('four').finish();
    await rig.quiet();
    expect(client.received.map((one) => one.split(':')[1])).toEqual(['one', 'two', 'three', 'four']);
    expect(client.sessions).toHaveLength(1);
    expect(client.complaints).toEqual([]);
    expect(rig.jobs.cancelled).toEqual([]);
    expect(rig.jobs.jobs).toHaveLength(4);
  });

  it('indexes of a dead instance are not reused', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    client.say('two');
    client.end();
    client.pump();
    rig.jobs.pendingRequest('two').answer();
    rig.kill('a');
    rig.jobs.answerAll();
    await moveTo(rig, client, 'b');
    const used = rig.jobs.jobs.map(({ record }) => record.spec.utteranceIndex);
    expect(new Set(used).size).toBe(used.length);
    client.say('three');
    client.end();
    client.pump();
    expect(rig.jobs.job('three').record.spec.utteranceIndex).toBeGreaterThan(64);
  });

  it('unacknowledged outcomes are repeated with the same numbers', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, ['one', 'two', 'three', 'four'], false);
    rig.jobs.job('one').finish();
    client.acknowledge();
    rig.jobs.job('two').fail();
    rig.jobs.job('three').finish();
    await rig.clock.advance(600);
    rig.kill('a');
    await moveTo(rig, client, 'b');
    const again = client.sent.flatMap((one) => (one.kind === 'outcome' ? [one.delivered] : []));
    expect(again.map(({ deliverySeq, utterance }) => [deliverySeq, utterance.index])).toEqual([
      [2, 1],
      [3, 2],
    ]);
    expect(again[0]?.outcome).toEqual({ kind: 'missing', reason: 'job_failed' });
    expect(client.received).toEqual(['0:one', '1!job_failed', '2:three']);
  });

  it('an outcome is counted once over a handover', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, ['one']);
    rig.jobs.job('one').finish();
    await rig.clock.advance(600);
    rig.kill('a');
    await moveTo(rig, client, 'b');
    expect(rig.counts.get('scheduler_utterance_outcomes_total result')).toBe(1);
  });

  it('an open sentence continues on the next instance', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, []);
    client.say('good ');
    client.pump();
    rig.kill('a');
    client.say('morning');
    await moveTo(rig, client, 'b');
    client.end();
    client.pump();
    expect(rig.jobs.pendingRequests.map(({ text }) => text)).toEqual(['good morning']);
  });

  it.each([false, true])(
    'a result without a record is lost unless its audio is resent: %s',
    async (comes) => {
      const rig = createInstancesRig();
      rig.jobs.answerAll();
      const client = await speakingClient(rig, ['one', 'two']);
      client.leave();
      for (const text of ['one', 'two']) rig.jobs.job(text).finish();
      await rig.clock.advance(600);
      rig.kill('a');
      rig.jobs.job('one').withdraw();
      const connecting = client.connect(rig.instance('b'));
      await rig.clock.advance(1_600);
      await connecting;
      if (comes) client.pump();
      await rig.quiet();
      if (comes) rig.jobs.job('one').finish();
      await rig.clock.advance(2_000);
      expect(client.received).toEqual([comes ? '0:one' : '0!job_failed', '1:two']);
    },
  );
});

describe('an utterance that was saved and never recorded', () => {
  it('a saved utterance without a job is recorded once when resent', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one', 'two']);
    client.utter('whole');
    client.pump();
    await rig.quiet();
    rig.jobs.pendingRequest('two').answer();
    await rig.quiet();
    expect([...client.accepted]).toEqual([1]);
    rig.kill('a');
    rig.jobs.answerAll();
    await moveTo(rig, client, 'b');
    expect([...client.accepted].sort()).toEqual([0, 1, 2]);
    for (const text of ['two', 'whole', 'one']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one', '1:two', '2:whole']);
    expect(rig.jobs.jobs).toHaveLength(3);
    expect(client.outbox.isEmpty()).toBe(true);
  });

  it('a saved utterance without a job is missing after a while', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    rig.kill('a');
    client.leave();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    await connecting;
    await rig.clock.advance(9_000);
    expect(client.received).toEqual([]);
    await rig.clock.advance(3_000);
    expect(client.received).toEqual(['0!job_failed']);
    expect(client.sent).toContainEqual(expect.objectContaining({ kind: 'error', code: 'AUDIO_LOST' }));
  });

  it('a saved utterance uses the job that its first instance records', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    const pendingRequest = rig.jobs.pendingRequest('one');
    client.leave();
    const connecting = client.connect(rig.instance('b'));
    await rig.quiet();
    await connecting;
    pendingRequest.answer();
    await rig.clock.advance(1_000);
    expect([...client.accepted]).toEqual([0]);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
  });
});

describe('audio that is resent after a handover', () => {
  it('resent audio reaches its job and makes no second one', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, []);
    client.say('one ');
    client.pump();
    client.say('two');
    client.end();
    client.utter('whole');
    client.pump();
    await rig.quiet();
    rig.kill('a');
    await moveTo(rig, client, 'b');
    expect(rig.jobs.jobs.map(({ text, repeats }) => [text, repeats])).toEqual([
      ['one two', 1],
      ['whole', 1],
    ]);
    for (const text of ['whole', 'one two']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.received.map((one) => one.split(':')[1])).toEqual(['one two', 'whole']);
    expect(rig.instance('b').audio.size()).toBe(0);
  });

  it('I2 no leak: incomplete resent audio is released with the outcome', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, []);
    for (const part of ['one ', 'two ', 'three']) {
      client.say(part);
      client.pump();
    }
    client.end();
    client.pump();
    await rig.quiet();
    rig.kill('a');
    client.leave();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    await connecting;
    client.pump(1);
    const { audio } = rig.instance('b');
    expect(audio.size()).toBe('one '.length);
    rig.jobs.job('one two three').finish();
    await rig.quiet();
    expect([client.received, audio.size()]).toEqual([['0:one two three'], 0]);
    client.pump();
    await rig.quiet();
    expect(audio.size()).toBe(0);
  });

  it('audio is requested on each connection until it was resent', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await speakingClient(rig, ['one']);
    rig.kill('a');
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    await connecting;
    client.leave();
    await client.connect(rig.instance('b'));
    expect(client.sent[0]).toMatchObject({ hasMoved: true });
    client.pump();
    await rig.quiet();
    expect(rig.jobs.job('one').repeats).toBe(1);
    client.leave();
    await client.connect(rig.instance('b'));
    expect(client.sent[0]).toMatchObject({ isResumed: true, hasMoved: false });
  });

  it('refused resent audio does not fail the remote job', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    rig.jobs.pendingRequest('one').answer();
    await rig.quiet();
    rig.kill('a');
    await moveTo(rig, client, 'b');
    rig.jobs.pendingRequest('one').refuse('RATE_LIMITED');
    await rig.quiet();
    expect(client.received).toEqual([]);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
  });
});

it('an utterance is missing when its driver abandoned the job', async () => {
  const rig = createInstancesRig();
  const client = await speakingClient(rig, ['one']);
  const pendingRequest = rig.jobs.pendingRequest('one');
  pendingRequest.admit();
  await rig.quiet();
  client.leave();
  const connecting = client.connect(rig.instance('b'));
  await rig.quiet();
  await connecting;
  pendingRequest.refuse('ALL_CANDIDATES_FULL_OR_FAILED');
  await rig.clock.advance(3_000);
  expect(client.received).toEqual(['0!job_failed']);
});
