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
      const stop = await hintBus.subscribe(instanceId, (text) => heard.push(text));
      return { instanceId, heard, stop };
    }

    it('tells one instance what is meant for it, and nobody else', async () => {
      const { hintBus } = await start();
      const [one, other] = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.send(one.instanceId, 'for one: ä');
      hintBus.send(other.instanceId, 'for other');
      await eventually(() => expect([one.heard, other.heard]).toEqual([['for one: ä'], ['for other']]));
      await Promise.all([one.stop(), other.stop()]);
    });

    it('tells everybody what is meant for all, the speaker included', async () => {
      const { hintBus } = await start();
      const listeners = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.sendToAll('news');
      await eventually(() => expect(listeners.map(({ heard }) => heard)).toEqual([['news'], ['news']]));
      await Promise.all(listeners.map(({ stop }) => stop()));
    });

    it('tells nothing more to one that stopped listening', async () => {
      const { hintBus } = await start();
      const [gone, here] = [await listenTo(hintBus), await listenTo(hintBus)];
      await gone.stop();
      hintBus.send(gone.instanceId, 'too late');
      hintBus.sendToAll('news');
      await eventually(() => expect(here.heard).toEqual(['news']));
      expect(gone.heard).toEqual([]);
      await here.stop();
    });

    it('goes on when a listener throws', async () => {
      const { hintBus } = await start();
      const stop = await hintBus.subscribe(fresh('instance'), () => {
        throw new Error('not my day');
      });
      const here = await listenTo(hintBus);
      hintBus.sendToAll('one');
      hintBus.sendToAll('two');
      await eventually(() => expect(here.heard).toEqual(['one', 'two']));
      await Promise.all([stop(), here.stop()]);
    });

    it('does not mind that nobody listens', async () => {
      const { hintBus } = await start();
      expect(() => hintBus.send(fresh('nobody'), 'hello')).not.toThrow();
    });
  });
}
