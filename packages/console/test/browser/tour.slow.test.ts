/** Every page in the other themes, languages and widths, and what takes several seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsOf, shows } from '../support/console-world.ts';
import { startTalkedWorld, type TalkedWorld, type View, visitAllPages } from '../support/tour.ts';

let world: TalkedWorld;

beforeAll(async () => {
  world = await startTalkedWorld();
});
afterAll(() => world?.stop());

const VIEWS: readonly View[] = [
  { theme: 'light', language: 'en', width: 1_280 },
  { theme: 'dark', language: 'zh', width: 1_280 },
  { theme: 'light', language: 'en', width: 360 },
];

it.each(VIEWS)('every page shows its data, without barriers: $theme, $language, $width', (view) =>
  visitAllPages(world, view),
);

it('rows stay in place under the pointer, and move on without it', async () => {
  const page = await world.open('/#/jobs');
  const newest = page.locator('tbody tr').first();
  await newest.hover();
  await shows(page, 'The rows stay in place');
  const before = await newest.innerText();
  const { job_id: newer } = await world.api.dispatch();
  await page.waitForResponse(
    async (response) => response.url().includes('/search') && (await response.text()).includes(newer),
  );
  // Another answer after it: the page has handled the first.
  await page.waitForResponse(/search/);
  expect((await newest.innerText()).split('\t')[0]).toBe(before.split('\t')[0]);
  await page.mouse.move(0, 0);
  await expect.poll(() => newest.innerText()).toContain(newer);
  await page.context().close();
});

it('the page of the API works under its content policy', async () => {
  const page = await world.open('/docs/');
  await page.getByText('/v1/whoami').first().click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await shows(page, '"is_anonymous": true');
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
});
