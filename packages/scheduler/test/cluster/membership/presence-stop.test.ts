/** An instance that stops while it starts, or while it finds that it was declared dead, does not come back. */
import { expect, it } from 'vitest';
import { DEATH_REMEMBERED_MS } from '../../../src/ports/instances.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

const BACK_MS = 100;

async function cutOff(forMs: number) {
  const rig = startPresences();
  const { clock, join } = rig;
  const { presence, connection, received } = join('a');
  await presence.start();
  // Otherwise the first renewal after the absence could not measure it.
  await clock.advance(SETTINGS.intervalMs);
  connection.isCut = true;
  await clock.advance(forMs);
  return { ...rig, presence, connection, received };
}

it('takes nothing over if it stops while it is announced again', async () => {
  const { clock, store, presence, connection, received } = await cutOff(2 * SETTINGS.ttlMs);
  await store().declareDead('a');
  Object.assign(connection, { isCut: false, backMs: BACK_MS });
  while (received.lost === 0) await clock.advance(BACK_MS);
  const stopping = presence.stop();
  await clock.advance(SETTINGS.intervalMs);
  await stopping;
  expect(received).toMatchObject({ lost: 1, reincarnated: 0 });
  expect([...(await store().living(['a']))]).toEqual([]);
});

it('is not announced again if it stops while its previous incarnation leaves', async () => {
  const { clock, store, presence, connection, received } = await cutOff(DEATH_REMEMBERED_MS);
  Object.assign(connection, { isCut: false, backMs: BACK_MS });
  while (received.lost === 0) await clock.advance(BACK_MS);
  const stopping = presence.stop();
  await clock.advance(SETTINGS.intervalMs);
  await stopping;
  expect(received).toMatchObject({ lost: 1, reincarnated: 0 });
  expect([...(await store().living(['a']))]).toEqual([]);
});

it.each([
  { what: 'it is announced', afterMs: 0 },
  { what: 'it reads the time of the store', afterMs: BACK_MS },
])('leaves no presence if it stops during its start, while $what', async ({ afterMs }) => {
  const { clock, store, join } = startPresences();
  const { presence, connection } = join('a');
  connection.backMs = BACK_MS;
  const starting = presence.start();
  await clock.advance(afterMs);
  const stopping = presence.stop();
  await clock.advance(3 * BACK_MS);
  await Promise.all([starting, stopping]);
  expect([...(await store().living(['a']))]).toEqual([]);
  expect(clock.pending()).toBe(0);
});

it('stops waiting for its name when it stops', async () => {
  const { clock, store, join } = startPresences();
  // Its name is released later. A third instance must not find the name in use then.
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
