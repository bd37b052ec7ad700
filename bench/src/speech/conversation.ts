/** One spoken sentence through the Talk page: a recording as microphone, and what was heard, shown and played. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import { writeWav } from '../../../packages/speech-node/dist/audio/wav.js';
import { type PageLog, WATCH_PAGE } from './watch-page.ts';

export interface Heard extends PageLog {
  readonly recognised: string;
  readonly translated: string;
  /** Further languages, with their texts. */
  readonly others: readonly string[];
  /** Script errors, and requests to other servers. */
  readonly faults: readonly string[];
}

export interface ConversationOptions {
  readonly url: string;
  /** 16-bit samples at 16 kHz. */
  readonly sound: Int16Array;
  /** Names of further languages, as the page shows them. */
  readonly further?: readonly string[];
  readonly hasHeadphones?: boolean;
}

const RATE = 16_000;
/** The page opens the microphone in this time; later words are not lost. */
const SILENCE_BEFORE_S = 3;
const SILENCE_AFTER_S = 3;
const LIMIT_MS = 90_000;
const POLL_MS = 100;

export async function converse({
  url,
  sound,
  further = [],
  hasHeadphones = false,
}: ConversationOptions): Promise<Heard> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-talk-'));
  const file = join(folder, 'microphone.wav');
  const padded = new Int16Array(sound.length + (SILENCE_BEFORE_S + SILENCE_AFTER_S) * RATE);
  padded.set(sound, SILENCE_BEFORE_S * RATE);
  writeFileSync(file, writeWav(padded));
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}%noloop`,
      '--autoplay-policy=no-user-gesture-required',
    ],
  });
  try {
    const context = await browser.newContext({ locale: 'en-GB' });
    await context.addInitScript(WATCH_PAGE);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('request', (request) => {
      const address = request.url();
      if (!address.startsWith(url) && !/^(blob|data):/.test(address)) faults.push(`a request to ${address}`);
    });
    await page.goto(`${url}/talk.html`);
    for (const name of further) await page.getByRole('checkbox', { name, exact: true }).check();
    if (hasHeadphones) await page.getByRole('checkbox', { name: 'headphones' }).check();
    await page.getByRole('button', { name: 'Hands-free' }).click();
    await page.getByRole('button', { name: 'Start listening' }).click();
    const log = await untilHeard(page);
    const [item] = await page.locator('.conversation li').all();
    const texts = (await item?.locator('p').allInnerTexts()) ?? [];
    const translated = (await page.locator('.conversation .translated').allInnerTexts()).join(' ');
    const others = await page.locator('.conversation .further').allInnerTexts();
    return { ...log, recognised: texts[1] ?? '', translated, others, faults };
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

/** The page's policy forbids what Playwright's own waiting needs. */
async function untilHeard(page: Page): Promise<PageLog> {
  for (const limit = Date.now() + LIMIT_MS; Date.now() < limit; await wait(POLL_MS)) {
    const log = (await page.evaluate('speechLog')) as PageLog;
    if (log.soundEndedAt !== undefined || log.missing !== undefined) return log;
  }
  throw new Error(`no translation was played within ${LIMIT_MS / 1_000} s`);
}

function findChromium(): string {
  const path = spawnSync('sh', ['-c', 'command -v chromium']).stdout.toString().trim();
  if (path === '')
    throw new Error('there is no chromium on this machine; install it (apt-get install chromium)');
  return path;
}
