/** Contract of HintBus: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { HintBus } from '../../src/ports/hint-bus.ts';
import { eventually } from '../support/eventually.ts';
import { type Closable, fresh, perTest } from './harness.ts';

export interface HintBusHarness extends Closable {
  readonly hintBus: HintBus;
}

export function hintBusContract(name: string, open: () => Promise<HintBusHarness>): void {
  describe(`HintBus: ${name}`, () => {
    const start = perTest(open);

    async function listenTo(hintBus: HintBus, instanceId = fresh('instance')) {
      const received: string[] = [];
      const stop = await hintBus.subscribe(instanceId, (text) => received.push(text));
      return { instanceId, received, stop };
    }

    it('delivers a hint to its receiver only', async () => {
      const { hintBus } = await start();
      const [one, other] = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.send(one.instanceId, 'for one: ä');
      hintBus.send(other.instanceId, 'for other');
      await eventually(() => expect([one.received, other.received]).toEqual([['for one: ä'], ['for other']]));
      await Promise.all([one.stop(), other.stop()]);
    });

    it('delivers a hint for all to every instance, including the sender', async () => {
      const { hintBus } = await start();
      const listeners = [await listenTo(hintBus), await listenTo(hintBus)];
      hintBus.sendToAll('news');
      await eventually(() => expect(listeners.map(({ received }) => received)).toEqual([['news'], ['news']]));
      await Promise.all(listeners.map(({ stop }) => stop()));
    });

    it('delivers nothing after a subscription has ended', async () => {
      const { hintBus } = await start();
      const [gone, here] = [await listenTo(hintBus), await listenTo(hintBus)];
      await gone.stop();
      hintBus.send(gone.instanceId, 'too late');
      hintBus.sendToAll('news');
      await eventually(() => expect(here.received).toEqual(['news']));
      expect(gone.received).toEqual([]);
      await here.stop();
    });

    it('delivers further hints after a subscriber has thrown', async () => {
      const { hintBus } = await start();
      const stop = await hintBus.subscribe(fresh('instance'), () => {
        throw new Error('not my day');
      });
      const here = await listenTo(hintBus);
      hintBus.sendToAll('one');
      hintBus.sendToAll('two');
      await eventually(() => expect(here.received).toEqual(['one', 'two']));
      await Promise.all([stop(), here.stop()]);
    });

    it('accepts a hint without a subscriber', async () => {
      const { hintBus } = await start();
      expect(() => hintBus.send(fresh('unknown'), 'hello')).not.toThrow();
    });
  });
}
