/** What a viewer and an operator see of the same scheduler, and what the server refuses a viewer. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shows, startWorld, type World } from '../support/console-world.ts';

const TOKENS = {
  viewer: 'viewer-token-0123456789',
  operator: 'operator-token-0123456789',
  client: 'client-token-0123456789',
  node: 'node-token-0123456789ab',
};
const KEY = { kid: 'one', alg: 'HS256', kty: 'oct', k: Buffer.alloc(32, 'k').toString('base64url') };
const KEYS = `[server]\ntoken_keys = '${JSON.stringify({ keys: [KEY] })}'\n`;
const TOML = Object.entries(TOKENS)
  .map(
    ([role, token]) =>
      `[[server.tokens]]\ntoken = "${token}"\nrole = "${role}"\n${role === 'client' ? 'tenant_id = "acme"\nmay_mint = true\n' : ''}`,
  )
  .join('\n');

let world: World;
let jobId: string;
let words: string;

beforeAll(async () => {
  world = await startWorld({ toml: KEYS + TOML, token: TOKENS.node });
  const speech = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'de', audio: 'AAAAAAAAAAA=' };
  const { body } = await world.api.post<{ job_id: string }>('/v1/dispatch/f2f', speech, TOKENS.operator);
  jobId = body.job_id;
  const path = `/v1/job/${jobId}?wait_ms=20000`;
  const job = await world.api.get<{ result: { text_translated: string } }>(path, TOKENS.operator);
  words = job.body.result.text_translated;
});
afterAll(() => world?.stop());

/** Everything that the server sends to the page from now on, except the live feed, which does not end. */
function record(page: Page): string[] {
  const bodies: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().includes('/live')) bodies.push(await response.text().catch(() => ''));
  });
  return bodies;
}

it('a link with a token logs in, and the token leaves the address', async () => {
  const page = await world.open(`/#token=${TOKENS.viewer}`);
  await shows(page, 'Nodes ready');
  expect(page.url()).not.toContain(TOKENS.viewer);
  await page.reload();
  await shows(page, 'Nodes ready');
  await page.getByRole('button', { name: 'Log out' }).click();
  await shows(page, 'This scheduler requires a token');
  await page.context().close();
});

it('a client may only talk, in the languages of the fleet, and a link leads there', async () => {
  const page = await world.open(`/#token=${TOKENS.client}`);
  await page.getByRole('link', { name: 'Open the page Talk' }).click();
  await shows(page, 'Hold to speak');
  const targets = page.getByRole('combobox', { name: 'To', exact: true }).getByRole('option');
  await expect.poll(() => targets.allInnerTexts()).toEqual(['German', 'Chinese']);
  await page.context().close();
  const invited = await world.open(`/talk.html#token=${TOKENS.client}`);
  await shows(invited, 'Hold to speak');
  expect(invited.url()).not.toContain(TOKENS.client);
  await invited.context().close();
});

it('a wrong token is refused with what to do; an operator sees words and orders', async () => {
  const page = await world.open();
  await page.getByLabel('Token').fill('wrong-token-0123456789');
  await page.getByRole('button', { name: 'Log in' }).click();
  await shows(page, 'The scheduler refused this token');
  await page.getByLabel('Token').fill(TOKENS.operator);
  await page.getByRole('button', { name: 'Log in' }).click();
  await shows(page, 'Nodes ready');
  await page.goto(`${world.url}/#/job/${jobId}`);
  await shows(page, words);
  await page.goto(`${world.url}/#/node/node-1`);
  await page.getByRole('button', { name: 'Cordon' }).waitFor();
  await page.context().close();
});

it('a viewer gets no words and no orders, also by requests of its own', async () => {
  const page = await world.open(`/#token=${TOKENS.viewer}`);
  const bodies = record(page);
  await shows(page, 'Nodes ready');
  await page.goto(`${world.url}/#/job/${jobId}`);
  await shows(page, 'Your role does not show transcripts');
  await page.goto(`${world.url}/#/session/room-1`);
  await page.goto(`${world.url}/#/node/node-1`);
  await shows(page, 'What it can do');
  expect(await page.getByRole('button', { name: /Cordon|Drain/ }).count()).toBe(0);
  await page.goto(`${world.url}/#/rooms`);
  await shows(page, 'Your role does not show what people say');
  expect(await page.getByRole('link', { name: 'Rooms' }).count()).toBe(0);
  const feed = await world.api.get<string>('/api/v1/live?once=true', TOKENS.viewer);
  bodies.push(JSON.stringify(feed.body));
  expect(bodies.join('\n')).toContain(jobId);
  expect(bodies.join('\n')).not.toContain(words);
  const requests = [
    'POST api/v1/nodes/node-1/cordon',
    'POST api/v1/nodes/node-1/drain',
    'POST api/v1/sessions/room-1/close',
    'DELETE api/v1/dead-letters',
    `POST v1/job/${jobId}/cancel`,
    `GET v1/job/${jobId}/audio`,
    `GET v1/job/${jobId}/events`,
    'GET api/v1/config',
    'GET v1/rooms',
  ];
  for (const request of requests) {
    const [method, path] = request.split(' ');
    const body = method === 'POST' ? ", body: '{}'" : '';
    const status = await page.evaluate(
      `fetch('${path}', { method: '${method}'${body}, headers: { 'content-type': 'application/json', authorization: 'Bearer ${TOKENS.viewer}' } }).then(({ status }) => status)`,
    );
    expect(status, request).toBe(403);
  }
  expect(
    (await world.api.get<{ cordoned: boolean }>('/api/v1/nodes/node-1', TOKENS.viewer)).body.cordoned,
  ).toBe(false);
  await page.context().close();
});

it('a link for a guest opens one room and nothing else', async () => {
  const page = await world.open(`/#token=${TOKENS.client}`);
  await page.getByRole('link', { name: 'Rooms' }).click();
  await page.getByLabel('Title').fill('Team meeting');
  await page.getByRole('button', { name: 'Open a room' }).click();
  await page.getByLabel('Role').selectOption('Listener');
  await page.getByRole('button', { name: 'Make a link' }).click();
  const link = await page.getByLabel('Link for guests').inputValue();
  const guest = await world.open(link);
  await shows(guest, 'Team meeting');
  expect(guest.url()).not.toContain('token=');
  await shows(guest, 'This link is for listeners');
  await guest.getByLabel('Your name').fill('Ana');
  await guest.getByRole('button', { name: 'Join' }).click();
  await shows(guest, 'Ana (you)');
  await shows(page, /Ana\s+Listener/);
  expect(await guest.locator('nav a').count()).toBe(0);
  for (const path of ['/#/rooms', '/talk.html']) {
    await guest.goto(world.url + path);
    await shows(guest, /may not open sessions|does not show what people say/);
  }
  await guest.context().close();
  await page.context().close();
  const late = await world.open(link.replace(/.$/, ''));
  await shows(late, 'Ask for a new one');
  await late.context().close();
});
