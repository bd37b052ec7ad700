/** Contract of Whispers: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Whispers } from '../../src/ports/hint-bus.ts';
import { eventually } from '../support/eventually.ts';
import { type Closable, fresh, perTest } from './harness.ts';

export interface WhispersHarness extends Closable {
  readonly whispers: Whispers;
}

export function hintBusContract(name: string, open: () => Promise<WhispersHarness>): void {
  describe(`Whispers: ${name}`, () => {
    const start = perTest(open);

    async function listenTo(whispers: Whispers, instanceId = fresh('instance')) {
      const heard: string[] = [];
      const stop = await whispers.listen(instanceId, (text) => heard.push(text));
      return { instanceId, heard, stop };
    }

    it('tells one instance what is meant for it, and nobody else', async () => {
      const { whispers } = await start();
      const [one, other] = [await listenTo(whispers), await listenTo(whispers)];
      whispers.say(one.instanceId, 'for one: ä');
      whispers.say(other.instanceId, 'for other');
      await eventually(() => expect([one.heard, other.heard]).toEqual([['for one: ä'], ['for other']]));
      await Promise.all([one.stop(), other.stop()]);
    });

    it('tells everybody what is meant for all, the speaker included', async () => {
      const { whispers } = await start();
      const listeners = [await listenTo(whispers), await listenTo(whispers)];
      whispers.sayToAll('news');
      await eventually(() => expect(listeners.map(({ heard }) => heard)).toEqual([['news'], ['news']]));
      await Promise.all(listeners.map(({ stop }) => stop()));
    });

    it('tells nothing more to one that stopped listening', async () => {
      const { whispers } = await start();
      const [gone, here] = [await listenTo(whispers), await listenTo(whispers)];
      await gone.stop();
      whispers.say(gone.instanceId, 'too late');
      whispers.sayToAll('news');
      await eventually(() => expect(here.heard).toEqual(['news']));
      expect(gone.heard).toEqual([]);
      await here.stop();
    });

    it('goes on when a listener throws', async () => {
      const { whispers } = await start();
      const stop = await whispers.listen(fresh('instance'), () => {
        throw new Error('not my day');
      });
      const here = await listenTo(whispers);
      whispers.sayToAll('one');
      whispers.sayToAll('two');
      await eventually(() => expect(here.heard).toEqual(['one', 'two']));
      await Promise.all([stop(), here.stop()]);
    });

    it('does not mind that nobody listens', async () => {
      const { whispers } = await start();
      expect(() => whispers.say(fresh('nobody'), 'hello')).not.toThrow();
    });
  });
}
