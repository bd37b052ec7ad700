/** A page of the console with a large fleet and many jobs: how soon a person can use it, and how evenly it moves. In Chromium. */
import { spawnSync } from 'node:child_process';
import { type Browser, chromium, type Page } from 'playwright-core';
import { paceDispatch, startBesideServer, startNodes } from './beside-rig.ts';
import { type Figure, median } from './measure.ts';
import { logLine } from './show.ts';

export interface ConsoleOptions {
  readonly rounds: number;
  /** How long frames are watched. */
  readonly watchMs: number;
  readonly idleNodes: number;
  readonly jobs: number;
  /** Jobs per second, before the page is watched and meanwhile. */
  readonly fillRate: number;
  readonly rate: number;
}

/** Slower than 20 frames a second. */
const SLOW_MS = 50;
const WAIT_MS = 120_000;
const FILL_PARTS = 10;

function findChromium(): string {
  const path = spawnSync('sh', ['-c', 'command -v chromium']).stdout.toString().trim();
  if (path === '')
    throw new Error('there is no chromium on this machine; install it (apt-get install chromium)');
  return path;
}

/** In parts, so that a person sees how far it is. What a busy machine refuses is sent again. */
async function fill(port: number, jobs: number, rate: number): Promise<void> {
  const part = Math.ceil(jobs / FILL_PARTS);
  for (let done = 0; done < jobs; ) {
    const next = Math.min(part, jobs - done);
    // The last job is due just before the end.
    const { requests, errors } = await paceDispatch(port, rate, (1_000 * next + 1) / rate);
    if (errors >= requests) throw new Error(`the scheduler refused all of ${requests} jobs`);
    done += requests - errors;
    logLine(`console: ${done} of ${jobs} jobs`);
  }
}

/** From the request of the page until a search in the list of all nodes shows its result. */
async function timeToUse(page: Page, url: string, last: string): Promise<number> {
  const begun = performance.now();
  await page.goto(`${url}/#/fleet`);
  const search = page.getByRole('searchbox');
  await search.waitFor({ timeout: WAIT_MS });
  await search.fill(last);
  await page.locator('tbody tr').filter({ hasText: last }).waitFor({ timeout: WAIT_MS });
  const used = performance.now() - begun;
  await search.fill('');
  return used;
}

/** The times between frames. */
const watchFrames = (page: Page, watchMs: number): Promise<number[]> =>
  page.evaluate(`new Promise((resolve) => {
    const gaps = [];
    const begun = performance.now();
    let before = begun;
    const step = (now) => {
      gaps.push(now - before);
      before = now;
      if (now - begun < ${watchMs}) requestAnimationFrame(step);
      else resolve(gaps.slice(1));
    };
    requestAnimationFrame(step);
  })`);

const slowShare = (gaps: readonly number[]): number =>
  (100 * gaps.filter((gap) => gap > SLOW_MS).length) / Math.max(1, gaps.length);

export async function consolePage(options: ConsoleOptions): Promise<Figure[]> {
  const { rounds, watchMs, idleNodes, jobs, fillRate, rate } = options;
  logLine(`console: starting ${idleNodes} nodes`);
  const server = await startBesideServer(idleNodes);
  const stopNodes = await startNodes(server.port);
  const url = `http://127.0.0.1:${server.port}`;
  const browser: Browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const ready: number[] = [];
  const slow = { fleet: [] as number[], overview: [] as number[] };
  try {
    await fill(server.port, jobs, fillRate);
    for (let round = 1; round <= rounds; round += 1) {
      logLine(`console: round ${round} of ${rounds}`);
      const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
      ready.push(await timeToUse(page, url, `node-idle-${idleNodes - 1}`));
      for (const name of ['fleet', 'overview'] as const) {
        await page.goto(`${url}/#/${name}`);
        const [gaps] = await Promise.all([
          watchFrames(page, watchMs),
          paceDispatch(server.port, rate, watchMs),
        ]);
        slow[name].push(slowShare(gaps));
      }
      await page.context().close();
    }
  } finally {
    await browser.close();
    await stopNodes();
    await server.stop();
  }
  const load = `${idleNodes.toLocaleString('en-US')} nodes, ${jobs.toLocaleString('en-US')} jobs`;
  const rows: Omit<Figure, 'scenario'>[] = [
    { name: `address opened → a search shows its node, ${load}`, value: median(ready), unit: 'ms' },
    {
      name: `frames over ${SLOW_MS} ms, node page, ${load}`,
      value: median(slow.fleet),
      unit: '%',
    },
    {
      name: `frames over ${SLOW_MS} ms, overview, ${load}`,
      value: median(slow.overview),
      unit: '%',
    },
  ];
  return rows.map((row) => ({ scenario: 'console', ...row }));
}
