/** Every page of the console with real data: what it shows, and that people can use it, in both languages and themes. */
import { openSession, type Session } from '@lingua/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { HEALTHY } from '../../../scheduler/src/cli/simulated-node/behaviour.ts';
import { eventually } from '../../../scheduler/test/support/eventually.ts';
import { faultsOf, shows, startWorld, type World } from '../support/console-world.ts';
import { findBarriers } from '../support/find-barriers.ts';

let world: World;
let session: Session;
let jobId = '';
let words = '';

beforeAll(async () => {
  const failing = { ...HEALTHY, failureRate: 1 };
  world = await startWorld({
    nodes: 6,
    mix: [
      { share: 5, behaviour: HEALTHY },
      { share: 1, behaviour: failing },
    ],
  });
  session = openSession({ url: world.url, srcLang: 'en', tgtLang: 'de', WebSocket });
  session.on('result', ({ message, textTranslated }) => {
    jobId = message.job_id;
    words = textTranslated;
  });
  session.sendUtterance(new Uint8Array(32_000));
  await eventually(() => jobId !== '');
});
afterAll(async () => {
  await session?.close();
  await world?.stop();
});

/** Page → what it shows in English and Chinese. */
const PAGES: readonly (readonly [path: () => string, en: () => string, zh: string])[] = [
  [() => 'overview', () => '6 / 6', '就绪节点'],
  [() => 'fleet?group=health', () => '6 of 6 nodes', '显示 6 / 6 个节点'],
  [() => 'node/node-1', () => 'What it can do', '能力'],
  [() => 'languages?pair=en-de', () => 'nodes could take such a job now', '可以接受此类任务'],
  [() => 'jobs', () => jobId, '结果'],
  [() => `job/${jobId}`, () => words, '时间线'],
  [() => 'sessions', () => session.sessionId ?? '', '连接'],
  [() => `session/${session.sessionId ?? ''}`, () => words, '时间轴'],
  [() => 'cluster', () => 'No instance took over jobs', '没有实例接管过其他实例的任务'],
  [() => 'tenants', () => 'default', '优先级'],
  [() => 'runbook/LinguaNoInstance', () => 'No instance of the scheduler is scraped', '处理手册'],
];

describe.each([
  { theme: 'light', language: 'en', width: 1_280 },
  { theme: 'dark', language: 'zh', width: 360 },
] as const)('in $language, $theme, $width pixels wide', ({ theme, language, width }) => {
  it('every page shows its data, without barriers and without sideways scrolling', async () => {
    const page = await world.open('/', { theme, language, viewport: { width, height: 800 } });
    for (const [path, en, zh] of PAGES) {
      await page.goto(`${world.url}/#/${path()}`);
      await shows(page, language === 'en' ? en() : zh);
      expect(await findBarriers(page), path()).toEqual([]);
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect(isWide, `${path()} is wider than the window`).toBe(false);
    }
    expect(faultsOf.get(page)).toEqual([]);
    await page.context().close();
  });
});

it('an unknown node, job and page say what is wrong', async () => {
  const page = await world.open('/#/node/absent');
  await shows(page, 'Not found');
  await page.goto(`${world.url}/#/job/absent`);
  await shows(page, 'Not found');
  await page.goto(`${world.url}/#/absent`);
  await shows(page, 'There is no such page');
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

it('a search for a job leads to its sound', async () => {
  const page = await world.open('/#/jobs');
  await page.getByRole('searchbox').fill(jobId.slice(0, 12));
  await page.getByRole('link', { name: jobId }).click();
  await page.getByRole('button', { name: 'Listen to the translation' }).click();
  await page.locator('audio').waitFor();
  await expect.poll(() => page.evaluate('document.querySelector("audio")?.duration > 0')).toBe(true);
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
});

it('rows can be followed while a search is on its way', async () => {
  const page = await world.open('/#/jobs');
  const row = page.getByRole('link', { name: jobId });
  await row.waitFor();
  const searched = page.waitForRequest(/[?&]q=/);
  await page.route(/[?&]q=/, () => undefined);
  await page.getByRole('searchbox').fill('job-');
  await searched;
  await row.click();
  await page.getByRole('button', { name: 'Listen to the translation' }).waitFor();
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
