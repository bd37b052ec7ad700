/** Dead letters are removed at the end of their time. */
import { describe, expect, it } from 'vitest';
import { createDeadLetterExpiry } from '../../../src/cluster/recovery/dead-letter-expiry.ts';
import { faulty } from '../../support/faulty.ts';
import { createInstancesInMemory } from '../../support/instances-in-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeLog } from '../../transport/ws/fakes.ts';

const RETENTION_MS = 100_000;

async function start() {
  const clock = createManualClock();
  const world = createInstancesInMemory({ clock });
  await world.join('self');
  const state = { isFenced: false };
  const deadLetters = faulty(world.deadLetters, [], clock);
  const expiry = createDeadLetterExpiry({
    deadLetters: deadLetters.port,
    instanceId: () => 'self',
    retentionMs: RETENTION_MS,
    isFenced: () => state.isFenced,
    clock,
    log: createFakeLog(),
  });
  expiry.start();
  const left = async (instanceId = 'self') =>
    (await world.deadLetters.list(instanceId, { max: 100 })).letters.map(({ head }) => head);
  return { ...world, clock, state, expiry, left, deadLetters };
}

describe('expiry of dead letters', () => {
  it('removes those that are older than their retention, and no others', async () => {
    const { clock, die, left } = await start();
    await die('self', 'early');
    await clock.advance(RETENTION_MS / 2);
    await die('self', 'late');
    await clock.advance(RETENTION_MS / 2);
    expect(await left()).toContain('late');
    await clock.advance(RETENTION_MS / 5);
    expect(await left()).toEqual(['late']);
  });

  it('removes what a removed instance left', async () => {
    const { clock, join, die, goForGood, left } = await start();
    const gone = await join('gone');
    await die('gone', 'left');
    await goForGood(gone);
    await clock.advance(1.2 * RETENTION_MS);
    expect(await left('gone')).toEqual([]);
  });

  it('removes nothing while its instance is fenced or after its stop', async () => {
    const { clock, die, state, expiry, left } = await start();
    await die('self', 'one');
    state.isFenced = true;
    await clock.advance(2 * RETENTION_MS);
    expect(await left()).toEqual(['one']);
    expiry.stop();
    state.isFenced = false;
    await clock.advance(2 * RETENTION_MS);
    expect(await left()).toEqual(['one']);
  });
});
