/** I7 for what was said: while the store cannot be asked an utterance waits, and is refused only when that has lasted. */
import { describe, expect, it } from 'vitest';
import { settled } from './scripted-desk.ts';
import { createSessionRig, legacyOpening } from './session-rig.ts';

const down = 'SCHEDULER_DEPENDENCY_DOWN';

describe('an utterance that nobody can record', () => {
  it('is asked for again, for the same request and under a new name, until somebody can', async () => {
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
    // What takes the first one back must not find the next.
    expect(last.jobId).toBeUndefined();
    expect(last.waitMs).toBe(10_000 - 7 * 250);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:one']);
    expect(client.link.of('error')).toEqual([]);
  });

  it('is refused as ever when that has lasted as long as it may wait for a slot', async () => {
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

  it('is not asked for any more when nobody waits for it', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('one', { isFinal: true });
    await clock.advance(300);
    await dispatcher.job().refuse(down);
    client.leave();
    await clock.advance(20_000);
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('counts with its audio while it waits; without room for that it is refused', async () => {
    const { open, dispatcher, audio } = createSessionRig({ audioBytes: 6 });
    open().speak('one');
    await dispatcher.job().refuse(down);
    expect(audio.size()).toBe(3);
    const client = open();
    client.speak('two');
    const refusing = dispatcher.job('two').refuse(down);
    audio.claim(1);
    await refusing;
    expect(client.link.outcomes()).toEqual(['0!job_failed']);
  });

  it('does not keep a process that stops', async () => {
    const { open, dispatcher, clock, service, audio } = createSessionRig();
    open().speak('one');
    await dispatcher.job().refuse(down);
    service.stop();
    await settled();
    expect([clock.pending(), audio.size()]).toEqual([0, 0]);
  });
});
