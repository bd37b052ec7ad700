/** The voices of members go between browsers: three pages that connect as the deployed web client does, in Chromium with fake microphones. */
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { findChromium } from '../../../../console/test/support/console-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startApp } from '../support/start-app.ts';

const PAGE = fileURLToPath(new URL('raw-voice-page.js', import.meta.url));
const LIMIT_MS = 120_000;

it('three members hear one another, a pair that is switched off does not, and does again later', {
  timeout: LIMIT_MS,
}, async () => {
  const app = await startApp({ 'rooms.legacy_codes': true });
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
    ],
  });
  onTestFinished(() => browser.close());
  async function open(code: string | undefined): Promise<Page> {
    const page = await browser.newPage({ bypassCSP: true });
    // Any page of the server: its sockets have the origin of the server.
    await page.goto(`${app.url}/health/live`);
    await page.addScriptTag({ path: PAGE });
    await page.evaluate(
      `talk(${JSON.stringify({ url: `${app.url.replace('http', 'ws')}/ws/session`, code })})`,
    );
    await eventually(() => page.evaluate('state.code !== undefined && state.me !== ""'));
    return page;
  }
  const first = await open(undefined);
  const code = (await first.evaluate('state.code')) as string;
  const [second, third] = [await open(code), await open(code)];
  const pages = [first, second, third];
  const ids = await Promise.all(pages.map(async (page) => (await page.evaluate('state.me')) as string));
  const hears = async (page: Page, ...others: readonly (string | undefined)[]) => {
    const counts = (await page.evaluate('heard()')) as Record<string, number>;
    const hearing = Object.keys(counts).filter((id) => (counts[id] ?? 0) > 0);
    expect(hearing.sort()).toEqual([...others].sort());
    return true;
  };
  for (const [at, page] of pages.entries())
    await eventually(() => hears(page, ...ids.filter((_, other) => other !== at)));

  const wish = (isWanted: boolean) =>
    first.evaluate(
      `state.send({ type: 'room_raw_voice_preference', room_code: state.code, target_session_id: '${ids[1]}', receive_raw_voice: ${isWanted} })`,
    );
  await wish(false);
  await eventually(() => hears(first, ids[2]));
  await eventually(() => hears(second, ids[2]));
  await hears(third, ids[0], ids[1]);
  await wish(true);
  for (const [at, page] of pages.entries())
    await eventually(() => hears(page, ...ids.filter((_, other) => other !== at)));
});
