/** Many sessions that come from elsewhere at once, as they do when an instance dies or drains. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { createMovingClient } from './moving-client.ts';

const MOST = 2;

/** As many sessions of a as there may be. */
async function crowd() {
  const rig = createInstancesRig({ settings: { maxSessions: MOST } });
  const clients = Array.from({ length: MOST }, () => createMovingClient());
  for (const client of clients) await client.connect(rig.instance('a'));
  await rig.clock.advance(1_000);
  return { rig, clients, b: rig.instance('b') };
}

describe('I11 bounded: sessions that come at once', () => {
  it('are no more than there may be, and those too many stay where they were', async () => {
    const { rig, clients, b } = await crowd();
    await createMovingClient().connect(b);
    const kinds = await Promise.all(clients.map((client) => client.connect(b)));
    expect(kinds.sort()).toEqual(['full', 'opened']);
    expect(b.service.counts().sessions).toBe(MOST);
    expect(rig.instance('a').service.counts().sessions).toBe(1);
  });

  it('have their room kept while they are on their way', async () => {
    const { clients, b } = await crowd();
    const coming = clients.map((client) => client.connect(b));
    expect(await createMovingClient().connect(b)).toBe('full');
    expect(await Promise.all(coming)).toEqual(['opened', 'opened']);
  });

  it('keep no room for one that is not to be had', async () => {
    const { clients, b } = await crowd();
    b.store.plan({ method: 'load', fault: 'throw' });
    expect(await Promise.all(clients.map((client) => client.connect(b)))).toEqual([
      'unavailable',
      'unavailable',
    ]);
    const others = Array.from({ length: MOST }, () => createMovingClient());
    for (const other of others) expect(await other.connect(b)).toBe('opened');
  });
});
