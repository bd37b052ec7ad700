/** A reader that is told messages as they are sent: nothing is asked for, and no more comes than there is room for. */
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../../src/ports/inbox.ts';
import { fine, startReader } from './inbox-reader-rig.ts';

const messages = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `lane-${from + at}:text`);

/** How often it was asked for messages, and whether it tells any now. */
function watched() {
  const state = { takes: 0, listens: 0, isListening: false };
  const wrap = (inbox: Inbox): Inbox => ({
    ...inbox,
    take(instanceId, limits) {
      state.takes += 1;
      return inbox.take(instanceId, limits);
    },
    async listen(instanceId, hear) {
      state.listens += 1;
      state.isListening = true;
      const stop = await inbox.listen(instanceId, hear);
      return async () => {
        state.isListening = false;
        await stop();
      };
    },
  });
  return { state, wrap };
}

describe('a reader that listens', () => {
  it('has messages handled and confirmed that it never asked for', async () => {
    const { state, wrap } = watched();
    const { send, seen, isEmpty, clock } = await startReader(fine, { isListening: true, wrap });
    await send(...messages(5));
    expect([seen, state.takes]).toEqual([messages(5), 1]);
    await clock.advance(1);
    expect(await isEmpty()).toBe(true);
  });

  it('is told nothing while it may have been taken for dead; what is sent meanwhile waits', async () => {
    const { state, wrap } = watched();
    const world = { isFenced: false };
    const { send, seen, clock, inbox } = await startReader(fine, {
      isListening: true,
      wrap,
      isFenced: () => world.isFenced,
    });
    world.isFenced = true;
    await clock.advance(1_000);
    expect(state.isListening).toBe(false);
    await send('a:1');
    expect([seen, (await inbox.size('me')).handedOut]).toEqual([[], 0]);
    world.isFenced = false;
    await clock.advance(200);
    expect([seen, state.isListening]).toEqual([['a:1'], true]);
  });

  it('keeps what it was told while it may have been taken for dead, and handles it when it knows better', async () => {
    const world = { isFenced: false };
    const { send, seen, clock } = await startReader(fine, {
      isListening: true,
      isFenced: () => world.isFenced,
    });
    // As after it stood still: what was told meanwhile is heard before anything else happens.
    world.isFenced = true;
    await send('a:1');
    expect(seen).toEqual([]);
    world.isFenced = false;
    await clock.advance(200);
    expect(seen).toEqual(['a:1']);
  });

  it('I11 bounded: is told no more when half of what it may handle is under way, and again when a quarter is', async () => {
    const { state, wrap } = watched();
    const going: (() => void)[] = [];
    const { send, seen, clock, inbox } = await startReader(
      () => new Promise((resolve) => going.push(resolve)),
      { isListening: true, wrap, settings: { maxHandling: 8 } },
    );
    await send(...messages(4));
    expect([seen.length, state.isListening]).toEqual([4, false]);
    await send(...messages(8, 4));
    await clock.advance(10);
    expect([seen.length, (await inbox.size('me')).handedOut]).toEqual([8, 8]);
    for (const end of going.splice(0)) end();
    await clock.advance(10);
    expect(seen).toHaveLength(12);
    for (const end of going.splice(0)) end();
    await clock.advance(1_000);
    expect(state.isListening).toBe(true);
  });

  it('takes messages where nobody tells them, and asks for that again after a while, not with every message', async () => {
    let listens = 0;
    const { send, seen, clock, warnings } = await startReader(fine, {
      wrap: (inbox) => ({
        ...inbox,
        async listen() {
          listens += 1;
          throw new Error('away');
        },
      }),
    });
    for (const message of messages(20)) await send(message);
    expect([seen, listens]).toEqual([messages(20), 1]);
    expect(warnings.length).toBeLessThanOrEqual(2);
    await clock.advance(2_000);
    expect(listens).toBe(3);
  });

  it('has everything handled at its stop that it was told, and leaves what comes after to others', async () => {
    const { send, seen, inbox, reader, clock } = await startReader(fine, {
      isListening: true,
      wrap: (inner) => ({
        ...inner,
        async listen(instanceId, hear) {
          const stop = await inner.listen(instanceId, hear);
          return async () => {
            await inner.send('me', 'a:while stopping');
            await stop();
          };
        },
      }),
    });
    const stopping = reader.stop();
    await clock.advance(10);
    await stopping;
    await send('a:after');
    expect(seen).toEqual(['a:while stopping']);
    expect(await inbox.size('me')).toMatchObject({ messages: 1 });
  });
});
