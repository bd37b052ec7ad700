/** Rooms on stepped time: what an instance accepted that was declared dead meanwhile. */
import { describe, expect, it } from 'vitest';
import { createRoomsRig } from './support/rooms-rig.ts';
import { acceptedBy } from './support/utterances.ts';

describe('an acceptance that arrives after the takeover of its dead instance', () => {
  it('R5: is continued by a survivor within seconds, and later utterances do not wait for it', async () => {
    const { clock, start, stores, record } = createRoomsRig();
    const a = start('a');
    const b = start('b');
    await a.enter('host', 'en');
    await b.enter('es', 'es');
    const fr = await b.enter('fr', 'fr');
    const { roomId = '' } = (await record()) ?? {};
    a.kill();
    await b.rooms.takeOver('a');
    await stores.log.accept(roomId, {
      ...acceptedBy('host', 'host 1', 'en', 'a/1'),
      acceptedAt: clock.now(),
    });
    await fr.say('two');
    await b.recognise('two');
    await b.translate('two', 'es');
    await clock.advance(9_000);
    const es = await b.enter('late', 'es');
    expect(es.captions()).toEqual([]);
    await clock.advance(2_000);
    expect(b.plans.plan().request.name).toBe('host 1');
    b.plans.plan().fail('en');
    await clock.advance(0);
    expect(es.captions()).toEqual(['2 <two es>']);
  });
});
