/** The pages of the console with real data, visited once in the narrowest view; tour.slow.test.ts visits them in the others. */
import { openSession } from '@lingua/sdk/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../scheduler/test/support/eventually.ts';
import { faultsOf, shows } from '../support/console-world.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { startTalkedWorld, type TalkedWorld, visitAllPages } from '../support/tour.ts';

let world: TalkedWorld;

beforeAll(async () => {
  world = await startTalkedWorld();
});
afterAll(() => world?.stop());

it('every page shows its data in Chinese, dark, on a phone, without barriers', () =>
  visitAllPages(world, { theme: 'dark', language: 'zh', width: 360 }));

it('an unknown node, job, room and page say what is wrong', async () => {
  const page = await world.open('/#/node/absent');
  await shows(page, 'Not found');
  await page.goto(`${world.url}/#/job/absent`);
  await shows(page, 'Not found');
  await page.goto(`${world.url}/#/absent`);
  await shows(page, 'There is no such page');
  for (const address of ['#/room/absent', 'join.html#/room/absent']) {
    await page.goto(`${world.url}/${address}`);
    await shows(page, 'The room has ended, or never existed.');
    expect(await page.getByRole('alert').count()).toBe(0);
  }
  await page.context().close();
});

it('a page whose script is gone says that the console was updated', async () => {
  const page = await world.open();
  await shows(page, 'Nodes ready');
  await page.route('**/assets/jobs-*.js', (route) => route.fulfill({ status: 404 }));
  await page.goto(`${world.url}/#/jobs`);
  await shows(page, 'This page did not load.');
  await page.unroute('**/assets/jobs-*.js');
  await page.getByRole('button', { name: 'Try again' }).click();
  await shows(page, world.jobId);
  await page.context().close();
});

it('the cluster page shows takeovers, and instances that did not answer', async () => {
  const page = await world.open();
  const takeover = { instance_id: 'b', taken_over_by: 'a', cause: 'died', jobs: 12, at_ms: Date.now() };
  await page.route('**/api/v1/takeovers', (route) =>
    route.fulfill({ json: { takeovers: [takeover], answered: ['a'], unreachable: ['c'] } }),
  );
  await page.goto(`${world.url}/#/cluster`);
  await shows(page, /b\s+died\s+a\s+12/);
  await shows(page, 'No answer from c');
  await page.context().close();
});

it('a search leads to the sound of a job, while the next search is on its way', async () => {
  const page = await world.open('/#/jobs');
  await page.getByRole('searchbox').fill(world.jobId.slice(0, 12));
  await page.waitForURL(/[?&]q=/);
  const row = page.getByRole('link', { name: world.jobId });
  await row.waitFor();
  const searched = page.waitForRequest(/[?&]q=job-(?:&|$)/);
  await page.route(/[?&]q=job-(?:&|$)/, () => undefined);
  await page.getByRole('searchbox').fill('job-');
  await searched;
  await row.click();
  await page.getByRole('button', { name: 'Listen to the translation' }).click();
  await page.locator('audio').waitFor();
  await expect.poll(() => page.evaluate('document.querySelector("audio")?.duration > 0')).toBe(true);
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
});

it('an operator closes a session from its page', async () => {
  const other = openSession({ url: world.url, srcLang: 'en', tgtLang: 'zh', WebSocket });
  await eventually(() => other.state === 'open');
  const page = await world.open(`/#/session/${other.sessionId}`);
  await page.getByRole('button', { name: 'Close session' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click();
  await eventually(() => other.state === 'closed' || other.state === 'failed');
  await page.context().close();
});

it('a room shows its people, and what they say in each language with its delay', async () => {
  const page = await world.open('/#/rooms');
  await page.getByLabel('Title').fill('Rehearsal');
  await page.getByRole('button', { name: 'Open a room' }).click();
  await shows(page, 'Nobody is in the room');
  const code = await page.locator('.facts code').innerText();
  const enter = async (name: string, language: string) => {
    const session = openSession({ url: world.url, srcLang: 'en', tgtLang: language, WebSocket });
    onTestFinished(async () => void (await session.close()));
    await session.rooms.join(code, { name, hears: { language } });
    return session;
  };
  const ana = await enter('Ana', 'en');
  await enter('Eva', 'de');
  await enter('Li', 'zh');
  await shows(page, /Ana\s+Speaker\s+English\s+English/);
  await shows(page, /Li\s+Speaker\s+English\s+Chinese/);
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(3);
  // All three streams are open: what is said from now on has a delay.
  await page.getByRole('checkbox', { name: 'Chinese' }).uncheck();
  await page.getByRole('checkbox', { name: 'Chinese' }).check();
  ana.sendUtterance(new Uint8Array(32_000));
  await shows(page, /Delay after the end of speech\s+Last\s+Median\s+Measured\s+German\s+\S+ \S+/);
  const german = page.locator('.rendition', { hasText: 'German' }).locator('[lang=de]');
  await expect.poll(() => german.innerText()).not.toBe('');
  expect(await findBarriers(page)).toEqual([]);
  for (const [order, shown] of [
    ['Lock', 'locked'],
    ['End room', 'The room has ended'],
  ] as const) {
    await page.getByRole('button', { name: order }).click();
    await page.getByRole('dialog').getByRole('button', { name: order }).click();
    await shows(page, shown);
  }
  await page.goto(`${world.url}/#/rooms`);
  await shows(page, 'Team meeting');
  expect(await page.getByText('Rehearsal').count()).toBe(0);
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
});
