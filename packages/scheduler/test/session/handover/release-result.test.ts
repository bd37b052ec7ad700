/** The result of a release says whether all of the session was saved. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { speaking } from '../support/speaking-client.ts';

describe('the result of a release', () => {
  it('a release reports success only after its own write', async () => {
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

  it('a release of a taken session reports failure at once', async () => {
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
