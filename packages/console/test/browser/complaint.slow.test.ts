/** A complaint: one node among fifty fails its jobs. From the overview to its cordon in three clicks. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HEALTHY } from '../../../scheduler/src/cli/simulated-node/behaviour.ts';
import { shows, startWorld, type World } from '../support/console-world.ts';

const QUICK = { ...HEALTHY, latency: { kind: 'constant', ms: 5 } } as const;
let world: World;
let isOver = false;
let traffic: Promise<void>;

beforeAll(async () => {
  world = await startWorld({
    nodes: 50,
    // Neither retries nor ejections may help: only the cordon does.
    settings: { 'scheduler.max_retry': 0, 'scheduler.ejection.max_ejected_percent': 0 },
    mix: [
      { share: 49, behaviour: QUICK },
      { share: 1, behaviour: { ...QUICK, failureRate: 1 } },
    ],
  });
  traffic = talk();
});
afterAll(async () => {
  isOver = true;
  await traffic;
  await world?.stop();
});

async function talk(): Promise<void> {
  while (!isOver) {
    const placed = await Promise.all(Array.from({ length: 10 }, () => world.api.dispatch()));
    await Promise.all(placed.map(({ job_id }) => world.api.settled(job_id)));
  }
}

it('the failing node is found and cordoned in three clicks, then jobs succeed', async () => {
  const page = await world.open();
  await shows(page, /of the last \d+ attempts on node-\d+ failed/);
  await page.getByRole('link', { name: /of the last \d+ attempts on node-/ }).click();
  await page.getByRole('button', { name: 'Cordon' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cordon' }).click();
  await shows(page, 'Uncordon');
  expect(page.url()).toMatch(/#\/node\/node-\d+$/);
  for (let round = 0; round < 10; round += 1) {
    const placed = await Promise.all(Array.from({ length: 20 }, () => world.api.dispatch()));
    const ended = await Promise.all(placed.map(({ job_id }) => world.api.settled(job_id)));
    expect(ended.map(({ outcome }) => outcome)).not.toContain('failed');
  }
});
