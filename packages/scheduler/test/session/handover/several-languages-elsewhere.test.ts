/** A session with several target languages continues on another instance: its plans run again and find their jobs. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';
import { languages, SETTINGS, speech } from '../support/session-rig.ts';

const TARGETS = [
  { language: 'es', isVoiceWanted: true },
  { language: 'fr', isVoiceWanted: false },
];
const SPEECH = speech({ languages: languages({ src_lang: 'en', tgt_lang: 'es' }), targets: TARGETS });

async function speakingClient(rig: InstancesRig, texts: readonly string[]): Promise<MovingClient> {
  const client = createMovingClient({ speech: SPEECH });
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
  await rig.quiet();
}

describe('several languages, and the instance dies', () => {
  it('each outcome arrives once, in order per language', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one', 'two']);
    const here = rig.instance('a').plans;
    here.plan('one').admit();
    here.plan('one').finish('fr');
    here.plan('two').finish('es');
    await rig.quiet();
    expect(client.received).toEqual(['0 fr/text:one']);
    rig.kill('a');
    await moveTo(rig, client, 'b');
    const there = rig.instance('b').plans;
    expect(there.plans).toHaveLength(2);
    // The new instance has no audio; the outcome that arrived is not wanted again.
    expect(there.plans[0]?.request).toMatchObject({
      name: here.plan('one').request.name,
      input: { audio: undefined },
      wanted: [{ language: 'es', isVoiceWanted: true }],
      deadlineAt: here.plan('one').request.deadlineAt,
    });
    for (const plan of [...there.plans].reverse()) {
      for (const { language, isVoiceWanted } of plan.request.wanted) {
        plan.finish(language);
        if (isVoiceWanted) plan.finish(language, 'voice');
      }
    }
    await rig.quiet();
    expect(client.received.map((one) => one.split(':')[0]).sort()).toEqual([
      '0 es/text',
      '0 es/voice',
      '0 fr/text',
      '1 es/text',
      '1 es/voice',
      '1 fr/text',
    ]);
    expect(client.complaints).toEqual([]);
  });

  it('a text that arrived before does not take the place of its failed voice', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    const here = rig.instance('a').plans.plan('one');
    here.finish('fr');
    here.finish('es');
    await rig.quiet();
    rig.kill('a');
    await moveTo(rig, client, 'b');
    const there = rig.instance('b').plans.plan();
    there.finish('es');
    there.fail('es', 'voice');
    await rig.quiet();
    expect(client.received).toEqual(['0 fr/text:one', '0 es/text:one', '0 es/voice!job_failed']);
  });

  it('audio that the client sends again replaces the plan that waits for it', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    rig.kill('a');
    await moveTo(rig, client, 'b');
    const { plans } = rig.instance('b').plans;
    client.pump();
    await rig.quiet();
    expect(plans.map(({ text, isLeft }) => `${text} ${isLeft}`)).toEqual([' true', 'one false']);
    expect(plans[1]?.request.name).toBe(plans[0]?.request.name);
    plans[0]?.finish('fr');
    expect(client.received).toEqual([]);
    plans[1]?.finish('fr');
    await rig.quiet();
    expect(client.received).toEqual(['0 fr/text:one']);
  });

  it('a gap is closed by time', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one', 'two']);
    rig.kill('a');
    await moveTo(rig, client, 'b');
    const [, second] = rig.instance('b').plans.plans;
    second?.finish('fr');
    await rig.clock.advance(SETTINGS.delivery.gapTimeoutMs);
    await rig.quiet();
    expect(client.received).toEqual(['0 fr/text!gap_timeout', expect.stringMatching(/^1 fr\/text/)]);
  });

  it('an outcome is sent only when the saved state has its number', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    rig.instance('a').plans.plan('one').finish('fr');
    await rig.quiet();
    expect(client.received).toEqual([]);
    rig.instance('a').store.heal();
    await rig.clock.advance(1_000);
    await rig.quiet();
    expect(client.received).toEqual(['0 fr/text:one']);
  });

  it('a released session leaves its plans without cancelling them', async () => {
    const rig = createInstancesRig();
    const client = await speakingClient(rig, ['one']);
    const here = rig.instance('a').plans.plan('one');
    await moveTo(rig, client, 'b');
    expect(here.isLeft).toBe(true);
    expect(here.cancelled).toEqual([]);
    expect(rig.instance('a').service.counts()).toMatchObject({ sessions: 0, watched: 0 });
  });
});
