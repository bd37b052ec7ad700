/** An instance that stops just when it finds that it was taken for dead: it does not come back for that. */
import { expect, it } from 'vitest';
import { DEATH_REMEMBERED_MS } from '../../src/ports/instances.ts';
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
