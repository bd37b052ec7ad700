/** The console in a real browser: first load, overview, nodes, orders, reconnection. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBreakableWire } from '../../../scheduler/test/e2e/support/breakable-wire.ts';
import { faultsOf, shows, startWorld, type World } from '../support/console-world.ts';
import { findBarriers } from '../support/find-barriers.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ nodes: 6 });
});
afterAll(() => world?.stop());

const LIMIT_BYTES = 60 * 1_024;

it('the first load is at most 60 KB, from its own origin, and shows figures, graphs and refusals', async () => {
  const page = await (await world.browser.newContext({ locale: 'en-GB' })).newPage();
  const loaded: { url: string; bytes: number }[] = [];
  page.on('requestfinished', async (request) => {
    const { responseBodySize } = await request.sizes();
    loaded.push({ url: request.url(), bytes: responseBodySize });
  });
  await page.goto(world.url);
  await shows(page, 'Nodes ready');
  await expect.poll(() => loaded.filter(({ url }) => url.endsWith('.js')).length).toBeGreaterThanOrEqual(2);
  expect(loaded.filter(({ url }) => !url.startsWith(world.url))).toEqual([]);
  const files = loaded.filter(({ url }) => !/\/v1\//.test(url));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBeGreaterThan(20 * 1_024);
  expect(total).toBeLessThanOrEqual(LIMIT_BYTES);
  await shows(page, '6 / 6');
  await shows(page, 'Nothing needs attention');
  await world.api.settled((await world.api.dispatch()).job_id);
  await shows(page, /Run\s+1/);
  await world.api.tryDispatch({ tgt_lang: 'ar' });
  await shows(page, /by reason[\s\S]+No node has these languages or services\s+1\s+NO_CAPABLE_NODE/);
  expect(await page.locator('.chart canvas').count()).toBe(4);
  expect(await findBarriers(page)).toEqual([]);
  await page.context().close();
});

it('nodes are searched, grouped, and opened from the table and the canvas', async () => {
  const page = await world.open('/#/fleet?group=version');
  await shows(page, '6 of 6 nodes');
  await page.getByRole('searchbox').fill('node-3');
  await shows(page, '1 of 6 nodes');
  expect(page.url()).toContain('q=node-3');
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'node-3' }).click();
  await shows(page, 'simulated-nmt');
  await page.goto(`${world.url}/#/fleet`);
  await shows(page, '6 of 6 nodes');
  await page.locator('.fleet-canvas canvas').click({ position: { x: 130, y: 30 } });
  await shows(page, 'What it can do');
  expect(page.url()).toContain('#/node/node-2');
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
});

it('an operator cordons a node with a reason, and the fleet shows it', async () => {
  const page = await world.open('/#/node/node-1');
  await page.getByRole('button', { name: 'Cordon' }).click();
  await page.getByRole('textbox').fill('noisy fan');
  await page.getByRole('dialog').getByRole('button', { name: 'Cordon' }).click();
  await shows(page, 'Uncordon');
  await shows(page, 'Reason of the operator: noisy fan');
  await expect
    .poll(async () => (await world.api.nodes()).find(({ node_id }) => node_id === 'node-1')?.cordoned)
    .toBe(true);
  await page.goto(`${world.url}/#/fleet?health=cordoned`);
  await shows(page, '1 of 6 nodes');
  await shows(page, 'cordoned noisy fan');
  await page.getByRole('searchbox').fill('noisy');
  await shows(page, '1 of 6 nodes');
  await world.api.post('/api/v1/nodes/node-1/uncordon');
  await page.context().close();
});

it('a lost connection is shown with the age of the data, and comes back', async () => {
  const wire = await createBreakableWire(`${world.url}/`);
  const page = await world.open(wire.url);
  await shows(page, 'Live');
  wire.cut({ isKept: true });
  await shows(page, /Data is .* old, reconnecting/);
  wire.mend();
  await shows(page, 'Live');
  await page.context().close();
});

it('language and theme are switched and remembered', async () => {
  const page = await (await world.browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(world.url);
  await page.getByRole('button', { name: '中文' }).click();
  await shows(page, '就绪节点');
  await page.getByRole('combobox', { name: '主题' }).selectOption('dark');
  await page.reload();
  await shows(page, '就绪节点');
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
  await page.context().close();
});

it('ten thousand nodes are shown, searched and grouped', async () => {
  const page = await (await world.browser.newContext()).newPage();
  const columns = ['node_id', 'status', 'used', 'slots', 'cordoned', 'ejected', 'region', 'pools'];
  const nodes = Array.from({ length: 10_000 }, (_, at) => [
    `n-${at}`,
    'ready',
    at % 5,
    4,
    false,
    false,
    `r${at % 7}`,
    [],
  ]);
  const snapshot = { seq: 1, at_ms: Date.now(), instances: [], node_columns: columns, nodes, attention: [] };
  await page.route('**/api/v1/live', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`,
    }),
  );
  await page.goto(`${world.url}/#/fleet?group=region`);
  await shows(page, '10,000 of 10,000 nodes');
  await shows(page, 'Page 1 of 200');
  await page.getByRole('searchbox').fill('n-9999');
  await shows(page, '1 of 10,000 nodes');
  await page.context().close();
});
