/** The SDK in a real browser, as a page loads it: native WebSocket, native clock, and a connection that is cut. */
import { spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createAnsweringScript } from './support/answering-scheduler.ts';
import { bundleClient } from './support/bundle-client.ts';
import { startScriptedScheduler } from './support/scripted-scheduler.ts';

/** Exposes the SDK to the test. */
const PAGE = `<!doctype html><title>client</title><script type="module">
  import { openSession } from '/client.js';
  window.begin = (url, token) => {
    const received = { opened: [], heard: [], ended: [], errors: [], losses: [] };
    const session = openSession({ url, token, srcLang: 'en', tgtLang: 'de', timings: { quickMs: 10, firstMs: 20 } });
    session.on('open', ({ resumed }) => received.opened.push(resumed));
    session.on('result', ({ textAsr }) => received.heard.push(textAsr));
    session.on('error', ({ code, isFatal, message }) => received.errors.push([code, isFatal, message]));
    session.on('disconnected', ({ reason }) => received.losses.push(reason));
    session.on('closed', ({ isAcknowledged }) => received.ended.push(isAcknowledged));
    window.session = session;
    window.received = received;
    window.say = (text) => session.sendAudio(new TextEncoder().encode(text));
  };
</script>`;

let pages: Server;
let browser: Browser;

beforeAll(async () => {
  const { code } = await bundleClient();
  pages = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? code : PAGE);
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({ executablePath: pathOf('chromium'), args: ['--no-sandbox'] });
});

afterAll(async () => {
  await browser?.close();
  pages?.closeAllConnections();
  await new Promise((resolve) => pages?.close(resolve));
});

/** As `npm test` installs it. */
function pathOf(program: string): string {
  const path = spawnSync('sh', ['-c', `command -v ${program}`])
    .stdout.toString()
    .trim();
  if (path === '') throw new Error(`${program} is missing: node scripts/install-test-tools.mjs installs it`);
  return path;
}

interface Received {
  readonly opened: boolean[];
  readonly heard: string[];
  readonly ended: boolean[];
  readonly errors: unknown[];
  readonly losses: string[];
}

const received = (page: Page): Promise<Received> => page.evaluate('received');
const eventually = <K extends keyof Received>(page: Page, what: K, expected: Received[K]): Promise<void> =>
  expect.poll(async () => (await received(page))[what], { timeout: 60_000, interval: 20 }).toEqual(expected);

it('a session in a browser is resumed, restarted, and gets each result once', async () => {
  const script = createAnsweringScript();
  const scheduler = await startScriptedScheduler(script);
  onTestFinished(scheduler.stop);
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
  await page.evaluate(`begin('${scheduler.url}')`);
  await eventually(page, 'opened', [false]);

  await page.evaluate(`say('one '); say('two'); session.endUtterance(); say('three ')`);
  await eventually(page, 'heard', ['one two']);

  scheduler.cut();
  await page.evaluate(`say('four '); session.endUtterance()`);
  await eventually(page, 'opened', [false, true]);
  await eventually(page, 'heard', ['one two', 'three four ']);

  await page.evaluate(`say('five ')`);
  await scheduler.caughtUp();
  script.forget();
  scheduler.cut();
  await eventually(page, 'opened', [false, true, false]);
  await page.evaluate(`say('six'); session.endUtterance()`);
  await eventually(page, 'heard', ['one two', 'three four ', 'five six']);

  await page.evaluate(`session.settled().then(() => session.close())`);
  await eventually(page, 'ended', [true]);
  expect((await received(page)).heard).toHaveLength(3);
  expect(scheduler.refused).toEqual([]);
  expect(faults).toEqual([]);
});

it('a browser distinguishes a wrong token, a wrong path and an unreachable server', async () => {
  const scheduler = await startScriptedScheduler({
    refuseUpgrade: () => 401,
    answerCheck: (url) =>
      url.startsWith('/v1/check?role=session&token=wrong')
        ? {
            status: 200,
            body: { role: 'session', is_admitted: false, code: 'UNAUTHORIZED', message: 'unknown token' },
          }
        : { status: 404, body: {} },
  });
  onTestFinished(scheduler.stop);
  const page = await browser.newPage();
  const pagesUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  await page.goto(pagesUrl);
  await page.evaluate(`begin('${scheduler.url}', 'wrong')`);
  await eventually(page, 'errors', [['UNAUTHORIZED', true, 'unknown token']]);
  await eventually(page, 'ended', [false]);

  const wrongPath = scheduler.url.replace('/ws/session', '/elsewhere');
  await page.evaluate(`begin('${wrongPath}')`);
  const where = wrongPath.replace('ws:', 'http:');
  await eventually(page, 'errors', [['NOT_FOUND', true, `${where} is not a Lingua scheduler`]]);

  await page.evaluate(`begin('ws://127.0.0.1:1/ws/session')`);
  await expect
    .poll(async () => (await received(page)).losses[0], { timeout: 60_000 })
    .toContain('cannot be reached');
  await page.evaluate('session.close()');
});
