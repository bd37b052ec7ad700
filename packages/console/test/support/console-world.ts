/** A scheduler with simulated nodes in this process, and a browser that opens its console. */
import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { createLog } from '../../../scheduler/src/adapters/system/log.ts';
import { createApp } from '../../../scheduler/src/app/create-app.ts';
import type { Share } from '../../../scheduler/src/cli/simulated-node/behaviour.ts';
import { createSimulatedFleet } from '../../../scheduler/src/cli/simulated-node/simulated-fleet.ts';
import { ensureBuilt } from '../../../scheduler/test/e2e/support/ensure-built.ts';
import { configOf, createClient, type Settings } from '../../../scheduler/test/e2e/support/start-app.ts';

export interface WorldOptions {
  readonly settings?: Settings;
  readonly toml?: string;
  /** For nodes, and for calls of the test itself. */
  readonly token?: string;
  readonly nodes?: number;
  readonly mix?: readonly Share[];
  readonly browserArgs?: readonly string[];
}

export interface OpenOptions extends BrowserContextOptions {
  readonly theme?: 'light' | 'dark';
  readonly language?: 'en' | 'zh';
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** What a page reported that no page should: script errors, and what the content policy refused. */
export const faultsOf = new WeakMap<Page, string[]>();

/** As `npm test` installs it. */
export function findChromium(): string {
  const path = spawnSync('sh', ['-c', 'command -v chromium']).stdout.toString().trim();
  if (path === '') throw new Error('chromium is missing: node scripts/install-test-tools.mjs installs it');
  return path;
}

export async function startWorld(options: WorldOptions = {}) {
  await ensureBuilt();
  const config = configOf(options.settings ?? {}, options.toml);
  const app = createApp({ config, log: createLog('error', { destination: { write: () => undefined } }) });
  const { port } = await app.start();
  const url = `http://127.0.0.1:${port}`;
  const fleet = createSimulatedFleet({
    url: `ws://127.0.0.1:${port}/ws/node`,
    count: options.nodes ?? 4,
    slots: 4,
    languages: ['en', 'zh', 'de'],
    seed: 1,
    nodeIdPrefix: 'node',
    ...(options.mix !== undefined && { mix: options.mix }),
    ...(options.token !== undefined && { token: options.token }),
  });
  await fleet.start();
  const browser: Browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu', ...(options.browserArgs ?? [])],
  });

  async function open(
    path = '/',
    { theme = 'light', language = 'en', ...rest }: OpenOptions = {},
  ): Promise<Page> {
    const context = await browser.newContext(rest);
    await context.addInitScript(`localStorage.setItem('lingua.theme', '${theme}');
      localStorage.setItem('lingua.language', '${language}');`);
    const page = await context.newPage();
    const faults: string[] = [];
    faultsOf.set(page, faults);
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (line) => {
      if (line.text().includes('Content Security Policy')) faults.push(line.text());
    });
    await page.goto(/^https?:/.test(path) ? path : url + path);
    return page;
  }

  return {
    app,
    url,
    port,
    fleet,
    browser,
    open,
    api: createClient(url),
    async stop(): Promise<void> {
      await browser.close();
      await fleet.stop();
      await app.stop();
    },
  };
}

/** Waits until the page shows the text. */
export const shows = (page: Page, text: string | RegExp): Promise<void> =>
  expect
    .poll(() => page.locator('body').innerText(), { message: `the page shows ${text}` })
    .toMatch(typeof text === 'string' ? new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text);
