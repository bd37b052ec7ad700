/** What an owner that lets a session go says of what it has saved. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { speaking } from './speaking-client.ts';

describe('an owner that lets a session go', () => {
  it('says that all is saved when that is so, and not when a write ends that was begun before', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    const { store, service } = rig.instance('a');
    store.plan({ method: 'save', fault: { delayMs: 300 } });
    for (const text of ['two', 'three']) {
      client.say(text);
      client.end();
      client.pump();
    }
    let isSaved: boolean | undefined;
    void service.release(client.sessionId ?? '').then((answer) => {
      isSaved = answer;
    });
    await rig.clock.advance(300);
    expect(isSaved).toBeUndefined();
    await rig.clock.advance(300);
    expect(isSaved).toBe(true);
    expect((await rig.store.load(client.sessionId ?? ''))?.state.utterances).toHaveLength(3);
  });

  it('says at once that it has not saved what was taken from it', async () => {
    const rig = createInstancesRig();
    const { sessionId = '' } = await speaking(rig);
    await rig.store.take(sessionId, 'c/1', 'a/1', 1_000_000);
    let isSaved: boolean | undefined;
    void rig
      .instance('a')
      .service.release(sessionId)
      .then((answer) => {
        isSaved = answer;
      });
    await rig.quiet();
    expect(isSaved).toBe(false);
  });
});
