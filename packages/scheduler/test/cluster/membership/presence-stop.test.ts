/** An instance that stops just when it finds that it was taken for dead, or while it starts: it does not come back for that. */
import { expect, it } from 'vitest';
import { DEATH_REMEMBERED_MS } from '../../../src/ports/instances.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

const BACK_MS = 100;

async function cutOff(forMs: number) {
  const rig = startPresences();
  const { clock, join } = rig;
  const { presence, way, heard } = join('a');
  await presence.start();
  // Otherwise the first renewal after the absence would not know how long that was.
  await clock.advance(SETTINGS.intervalMs);
  way.isCut = true;
  await clock.advance(forMs);
  return { ...rig, presence, way, heard };
}

it('takes nothing over if it stops while it is announced anew', async () => {
  const { clock, store, presence, way, heard } = await cutOff(2 * SETTINGS.ttlMs);
  await store().declareDead('a');
  Object.assign(way, { isCut: false, backMs: BACK_MS });
  while (heard.lost === 0) await clock.advance(BACK_MS);
  const stopping = presence.stop();
  await clock.advance(SETTINGS.intervalMs);
  await stopping;
  expect(heard).toMatchObject({ lost: 1, reborn: 0 });
  expect([...(await store().living(['a']))]).toEqual([]);
});

it('is not announced anew if it stops while it takes leave of the life before', async () => {
  const { clock, store, presence, way, heard } = await cutOff(DEATH_REMEMBERED_MS);
  Object.assign(way, { isCut: false, backMs: BACK_MS });
  while (heard.lost === 0) await clock.advance(BACK_MS);
  const stopping = presence.stop();
  await clock.advance(SETTINGS.intervalMs);
  await stopping;
  expect(heard).toMatchObject({ lost: 1, reborn: 0 });
  expect([...(await store().living(['a']))]).toEqual([]);
});

it.each([
  { what: 'it is announced', afterMs: 0 },
  { what: 'it asks for the time of the store', afterMs: BACK_MS },
])('leaves nothing behind if it stops while $what for the first time', async ({ afterMs }) => {
  const { clock, store, join } = startPresences();
  const { presence, way } = join('a');
  way.backMs = BACK_MS;
  const starting = presence.start();
  await clock.advance(afterMs);
  const stopping = presence.stop();
  await clock.advance(3 * BACK_MS);
  await Promise.all([starting, stopping]);
  expect([...(await store().living(['a']))]).toEqual([]);
  expect(clock.pending()).toBe(0);
});

it('does not wait for its name any more once it stops', async () => {
  const { clock, store, join } = startPresences();
  // Its name is free a moment later: nobody else is to find it taken then.
  const former = join('a', { incarnation: 'a-0' });
  await former.presence.start();
  const { presence } = join('a');
  const starting = presence.start();
  await clock.advance(1);
  await presence.stop();
  await former.presence.stop();
  await clock.advance(SETTINGS.ttlMs);
  expect(await starting).toBe('taken');
  expect([...(await store().living(['a']))]).toEqual([]);
});
