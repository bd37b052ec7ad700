/** Contract of Hints: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { HintBus } from '../../src/ports/hint-bus.ts';
import { eventually } from '../support/eventually.ts';
import { type Closable, fresh, perTest } from './harness.ts';

export interface WhispersHarness extends Closable {
  readonly hintBus: HintBus;
}

export function hintBusContract(name: string, open: () => Promise<WhispersHarness>): void {
  describe(`Hints: ${name}`, () => {
    const start = perTest(open);

    async function listenTo(hintBus: HintBus, instanceId = fresh('instance')) {
      const heard: string[] = [];
      const stop = await hintBus.listen(instanceId, (text) => heard.push(text));
      return { instanceId, heard, stop };
    }

    it('tells one instance what is meant for it, and nobody else', async () => {
      const { hintBus } = await start();
      const [one, other] = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.say(one.instanceId, 'for one: ä');
      hintBus.say(other.instanceId, 'for other');
      await eventually(() => expect([one.heard, other.heard]).toEqual([['for one: ä'], ['for other']]));
      await Promise.all([one.stop(), other.stop()]);
    });

    it('tells everybody what is meant for all, the speaker included', async () => {
      const { hintBus } = await start();
      const listeners = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.sayToAll('news');
      await eventually(() => expect(listeners.map(({ heard }) => heard)).toEqual([['news'], ['news']]));
      await Promise.all(listeners.map(({ stop }) => stop()));
    });

    it('tells nothing more to one that stopped listening', async () => {
      const { hintBus } = await start();
      const [gone, here] = [await listenTo(hintBus), await listenTo(hintBus)];
      await gone.stop();
      hintBus.say(gone.instanceId, 'too late');
      hintBus.sayToAll('news');
      await eventually(() => expect(here.heard).toEqual(['news']));
      expect(gone.heard).toEqual([]);
      await here.stop();
    });

    it('goes on when a listener throws', async () => {
      const { hintBus } = await start();
      const stop = await hintBus.listen(fresh('instance'), () => {
        throw new Error('not my day');
      });
      const here = await listenTo(hintBus);
      hintBus.sayToAll('one');
      hintBus.sayToAll('two');
      await eventually(() => expect(here.heard).toEqual(['one', 'two']));
      await Promise.all([stop(), here.stop()]);
    });

    it('does not mind that nobody listens', async () => {
      const { hintBus } = await start();
      expect(() => hintBus.say(fresh('nobody'), 'hello')).not.toThrow();
    });
  });
}
