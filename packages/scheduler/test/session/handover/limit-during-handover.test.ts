/** Many sessions move to one instance at once, as when another instance dies or drains. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';

const MOST = 2;

/** The limit of sessions on a. */
async function atLimit() {
  const rig = createInstancesRig({ settings: { maxSessions: MOST } });
  const clients = Array.from({ length: MOST }, () => createMovingClient());
  for (const client of clients) await client.connect(rig.instance('a'));
  await rig.clock.advance(1_000);
  return { rig, clients, b: rig.instance('b') };
}

describe('I11 bounded: concurrent handovers', () => {
  it('sessions beyond the limit stay on their instance', async () => {
    const { rig, clients, b } = await atLimit();
    await createMovingClient().connect(b);
    const kinds = await Promise.all(clients.map((client) => client.connect(b)));
    expect(kinds.sort()).toEqual(['full', 'opened']);
    expect(b.service.counts().sessions).toBe(MOST);
    expect(rig.instance('a').service.counts().sessions).toBe(1);
  });

  it('a session that is being fetched has a reserved place', async () => {
    const { clients, b } = await atLimit();
    const coming = clients.map((client) => client.connect(b));
    expect(await createMovingClient().connect(b)).toBe('full');
    expect(await Promise.all(coming)).toEqual(['opened', 'opened']);
  });

  it('a failed fetch releases its reserved place', async () => {
    const { clients, b } = await atLimit();
    b.store.plan({ method: 'load', fault: 'throw' });
    expect(await Promise.all(clients.map((client) => client.connect(b)))).toEqual([
      'unavailable',
      'unavailable',
    ]);
    const others = Array.from({ length: MOST }, () => createMovingClient());
    for (const other of others) expect(await other.connect(b)).toBe('opened');
  });
});
