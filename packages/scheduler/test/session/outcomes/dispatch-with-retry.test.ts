/** I7 for utterances: while the store is down an utterance waits; it is refused only after a limit. */
import { describe, expect, it } from 'vitest';
import { settled } from '../support/scripted-dispatcher.ts';
import { createSessionRig, legacyOpening } from '../support/session-rig.ts';

const down = 'SCHEDULER_DEPENDENCY_DOWN';

describe('an utterance while the store is down', () => {
  it('dispatch is retried with the same request and a new job id', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.speak('one');
    for (let tries = 1; tries < 8; tries += 1) {
      await dispatcher.job().refuse(down);
      expect(dispatcher.jobs).toHaveLength(tries);
      await clock.advance(250);
      expect(dispatcher.jobs).toHaveLength(tries + 1);
    }
    const [first, last] = [dispatcher.jobs[0]?.request, dispatcher.job().request];
    expect(last).toMatchObject({ requestId: first?.requestId, fingerprint: first?.fingerprint });
    // The withdrawal of the first try must not hit the next one.
    expect(last.jobId).toBeUndefined();
    expect(last.waitMs).toBe(10_000 - 7 * 250);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:one']);
    expect(client.link.of('error')).toEqual([]);
  });

  it('dispatch is refused after the limit of waiting for a slot', async () => {
    const { open, dispatcher, clock, audio } = createSessionRig();
    dispatcher.onDispatch((job) => void job.refuse(down));
    const [client, field] = [open(), open(legacyOpening())];
    client.speak('one');
    field.say('two', { isFinal: true });
    await clock.advance(9_999);
    expect(client.link.outcomes()).toEqual([]);
    expect(audio.size()).toBeGreaterThan(0);
    await clock.advance(1_000);
    expect(client.link.outcomes()).toEqual(['0!job_failed']);
    expect(client.link.of('error')).toMatchObject([{ code: down }]);
    expect(field.link.outcomes()).toEqual(['0!job_failed']);
    expect(field.link.of('error')).toEqual([]);
    expect([audio.size(), clock.pending()]).toEqual([0, 0]);
  });

  it('dispatch is not retried for an ended session', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('one', { isFinal: true });
    await clock.advance(300);
    await dispatcher.job().refuse(down);
    client.leave();
    await clock.advance(20_000);
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('audio stays counted between retries; without space it is refused', async () => {
    const { open, dispatcher, audio } = createSessionRig({ audioBytes: 6 });
    open().speak('one');
    await dispatcher.job().refuse(down);
    expect(audio.size()).toBe(3);
    const client = open();
    client.speak('two');
    const refusing = dispatcher.job('two').refuse(down);
    audio.claim('acme', 1);
    await refusing;
    expect(client.link.outcomes()).toEqual(['0!job_failed']);
  });

  it('stopping ends the retries', async () => {
    const { open, dispatcher, clock, service, audio } = createSessionRig();
    open().speak('one');
    await dispatcher.job().refuse(down);
    service.stop();
    await settled();
    expect([clock.pending(), audio.size()]).toEqual([0, 0]);
  });
});
