/** An utterance in one language, whose job no single node can do, is a plan with one outcome. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';
import { createSessionRig } from '../support/session-rig.ts';

const isSplittable = () => true;

async function speaking(text: string, settings = {}) {
  const rig = createSessionRig({ isSplittable, settings });
  const client = rig.open();
  client.speak(text);
  await rig.dispatcher.job().refuse('NO_CAPABLE_NODE');
  return { rig, client, plan: rig.plans.plan() };
}

describe('a job that no single node can do', () => {
  it('is requested as a plan with the same audio, and has one outcome', async () => {
    const { client, plan } = await speaking('one');
    expect(plan.text).toBe('one');
    expect(plan.request.wanted).toEqual([{ language: 'zh', isVoiceWanted: true }]);
    plan.admit();
    plan.recognise();
    plan.finish('zh');
    expect(client.link.of('outcome')).toEqual([]);
    plan.finish('zh', 'voice');
    expect(client.link.of('outcome').map(({ delivered }) => delivered.deliverySeq)).toEqual([1]);
    expect(client.link.lines().filter((line) => line.startsWith('accepted'))).toHaveLength(1);
  });

  it('keeps the order with other utterances', async () => {
    const { rig, client, plan } = await speaking('one');
    client.speak('two');
    await rig.dispatcher.job('two').succeed();
    expect(client.link.of('outcome')).toEqual([]);
    plan.finish('zh', 'voice');
    expect(client.link.of('outcome').map(({ delivered }) => delivered.utterance.index)).toEqual([0, 1]);
  });

  it('has its text as outcome if only the voice fails, with the reason', async () => {
    const { client, plan } = await speaking('one');
    plan.finish('zh');
    plan.fail('zh', 'voice', 'TTS_TIMEOUT');
    const [outcome] = client.link.of('outcome').map(({ delivered }) => delivered.outcome);
    expect(outcome).toMatchObject({
      kind: 'result',
      result: { extra: { voice_failed: expect.stringContaining('TTS_TIMEOUT') } },
    });
  });

  it('fails with the reason of its plan', async () => {
    const { client, plan } = await speaking('one');
    plan.fail('zh', 'text', 'MODEL_LOAD_FAILED');
    plan.fail('zh', 'voice', 'MODEL_LOAD_FAILED');
    expect(client.link.of('error').map(({ code, details }) => [code, details?.tgt_lang])).toEqual([
      ['MODEL_LOAD_FAILED', undefined],
    ]);
    expect(client.link.of('outcome').map(({ delivered }) => delivered.outcome.kind)).toEqual(['missing']);
  });

  it('is cancelled with its session', async () => {
    const { client, plan } = await speaking('one', { resumeTtlMs: 0 });
    client.leave();
    expect(plan.cancelled).toEqual(['SESSION_CLOSED']);
  });

  it('goes on under the same name on another instance', async () => {
    const rig = createInstancesRig({ isSplittable });
    const client = createMovingClient();
    await client.connect(rig.instance('a'));
    client.say('one');
    client.end();
    client.pump();
    await rig.quiet();
    rig.jobs.pendingRequest('one').refuse('NO_CAPABLE_NODE');
    await rig.quiet();
    const here = rig.instance('a').plans.plan('one');
    here.admit();
    await rig.quiet();
    rig.kill('a');
    client.leave();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    expect(await connecting).toBe('opened');
    await rig.quiet();
    const there = rig.instance('b').plans.plan();
    expect(there.request).toMatchObject({ name: here.request.name, wanted: here.request.wanted });
    there.finish('zh', 'voice');
    await rig.quiet();
    expect(client.received).toHaveLength(1);
    expect(client.complaints).toEqual([]);
  });
});
