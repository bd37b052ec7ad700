/** The talk page and that of a room's guests, with a microphone that plays a file: a spoken sentence, then silence, again and again. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RoomView } from '@lingua/protocol';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resample } from '../../../speech-node/src/audio/resample.ts';
import { readWav, toPcm16, writeWav } from '../../../speech-node/src/audio/wav.ts';
import { faultsOf, shows, startWorld, type World } from '../support/console-world.ts';
import { findBarriers } from '../support/find-barriers.ts';

const RATE = 16_000;
const folder = mkdtempSync(join(tmpdir(), 'talk-'));
let world: World;

/** A spoken sentence, then silence, so that a hands-free page hears where it ends. */
function soundFile(): string {
  const { stdout } = spawnSync('espeak-ng', [
    '-v',
    'en-us',
    '--stdout',
    'Where is the train station, please?',
  ]);
  const { samples, sampleRate } = readWav(stdout);
  const sound = new Float32Array(4 * RATE);
  sound.set(resample(samples, sampleRate, RATE).subarray(0, 2.5 * RATE));
  const path = join(folder, 'speech.wav');
  writeFileSync(path, writeWav(toPcm16(sound)));
  return path;
}

beforeAll(async () => {
  world = await startWorld({
    settings: { 'server.allowed_hosts': 'scheduler.test' },
    browserArgs: [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${soundFile()}`,
      '--autoplay-policy=no-user-gesture-required',
      '--host-resolver-rules=MAP scheduler.test 127.0.0.1',
    ],
  });
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true });
});

const has =
  (type: string) =>
  ({ payload }: { payload: string | Buffer }): boolean =>
    String(payload).includes(`"${type}"`);

/** Holds the button until the microphone is open and the server has had some of its sound. */
async function speak(page: Page, button: string, socket = page.waitForEvent('websocket')): Promise<void> {
  const box = await page.getByRole('button', { name: button }).boundingBox();
  if (box === null) throw new Error(`there is no button ${button}`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const sent = socket.then((opened) => opened.waitForEvent('framesent', has('audio_chunk')));
  await page.mouse.down();
  await sent;
  await page.mouse.up();
}

it('a held button sends speech: a voice in the first language, texts in the others', async () => {
  const page = await world.open('/talk.html');
  await page.getByRole('checkbox', { name: 'German' }).check();
  await speak(page, 'Hold to speak');
  await shows(page, /Result .* after the end of speech/);
  await shows(page, 'Simulated');
  await shows(page, 'recognition');
  await shows(page, /heard after/);
  const german = page.locator('.conversation .further[lang=de]');
  await expect.poll(() => german.innerText()).toMatch(/German \S+/);
  expect(await page.locator('.conversation .translated').innerText()).not.toBe('');
  expect(await findBarriers(page)).toEqual([]);
  expect(faultsOf.get(page)).toEqual([]);
  await page.getByRole('link', { name: 'where it went' }).click();
  await shows(page, 'Timeline');
  await page.context().close();
});

it('hands-free, a pause ends the sentence', async () => {
  const page = await world.open('/talk.html');
  await page.getByRole('button', { name: 'Hands-free' }).click();
  await page.getByRole('button', { name: 'Start listening' }).click();
  await shows(page, /Result .* after the end of speech/);
  await shows(page, /Simulated/);
  await shows(page, /recognition [\s\S]+speech/);
  await page.context().close();
});

it('two people face to face at a phone see each other’s words, and both buttons', async () => {
  const page = await world.open('/talk.html', { viewport: { width: 360, height: 640 } });
  await page.getByRole('button', { name: 'Face to face' }).click();
  await speak(page, 'Hold to speak English');
  const [across, near] = await page.locator('.face .said').all();
  await expect.poll(() => near?.innerText()).not.toBe('');
  await expect.poll(() => across?.innerText()).not.toBe('');
  expect(await across?.innerText()).not.toBe(await near?.innerText());
  for (const name of ['Hold to speak English', 'Hold to speak Chinese']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    expect(box?.y, name).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0), name).toBeLessThanOrEqual(640);
  }
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Leave face to face' }).click();
  await shows(page, 'Hold to speak');
  await page.context().close();
});

it('a typed sentence is translated into all languages, reported as bad, and shown so with its job', async () => {
  const page = await world.open('/talk.html');
  await page.getByRole('checkbox', { name: 'German' }).check();
  await page.getByRole('textbox').fill('Where is the station?');
  await page.getByRole('button', { name: 'Translate' }).click();
  await shows(page, /Result after \d/);
  expect(await page.locator('.conversation .further[lang=de]').innerText()).toMatch(/German \S+/);
  expect(await page.locator('.conversation .translated').innerText()).not.toBe('');
  await page.getByRole('button', { name: 'Bad translation' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('the wrong station');
  await page.getByRole('dialog').getByRole('button', { name: 'Bad translation' }).click();
  await shows(page, 'Operators see it with the job');
  await page.getByRole('link', { name: 'where it went' }).click();
  await shows(page, 'Bad translation: the wrong station');
  await page.context().close();
});

it('a language without a voice, and one that is not translated, are known before the first sentence', async () => {
  const page = await world.open();
  const languages = [
    { lang: 'es', voice: true },
    { lang: 'gl', voice: false },
  ];
  await page.route(/\/v1\/languages\?/, (route) => route.fulfill({ json: { src_lang: 'en', languages } }));
  await page.goto(`${world.url}/talk.html`);
  await page.getByRole('combobox', { name: 'To', exact: true }).selectOption('Galician (text only)');
  await shows(page, 'No node speaks Galician: its translation is text only.');
  await page.getByRole('button', { name: 'Swap the languages' }).click();
  await shows(page, 'At the moment no node translates speech from Galician into English.');
  expect(await findBarriers(page)).toEqual([]);
  await page.context().close();
});

it('without https the page says why there is no microphone', async () => {
  const page = await world.open(`http://scheduler.test:${world.port}/talk.html`);
  await shows(page, 'Browsers give the microphone only to pages from https');
  expect(await page.getByRole('button', { name: 'Hold to speak' }).isDisabled()).toBe(true);
  await page.context().close();
});

async function openRoom(): Promise<string> {
  const { body } = await world.api.post<RoomView>('/v1/rooms', { title: 'Team meeting' });
  return `/join.html#/room/${body.room_code}`;
}

it('of two guests in a room one speaks, and the other one gets it in its language', async () => {
  const link = await openRoom();
  const enter = async (name: string, language: string, part: string, theme: 'light' | 'dark') => {
    const page = await world.open(link, { theme, viewport: { width: 360, height: 640 } });
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('Your language').selectOption(language);
    await page.getByLabel(part).check();
    expect(await findBarriers(page)).toEqual([]);
    const socket = page.waitForEvent('websocket');
    await page.getByRole('button', { name: 'Join' }).click();
    return { page, socket };
  };
  const ana = await enter('Ana', 'en', 'With microphone', 'light');
  const eva = await enter('Eva', 'de', 'Listen only', 'dark');
  await shows(ana.page, /Ana \(you\) · English\s+Eva · German/);
  const voice = eva.socket.then((opened) => opened.waitForEvent('framereceived', has('room_voice')));
  await speak(ana.page, 'Hold to speak', ana.socket);
  const caption = eva.page.locator('.conversation .translated[lang=de]');
  await expect.poll(() => caption.innerText()).not.toBe('');
  expect(await eva.page.locator('.conversation li').innerText()).toMatch(/^Ana/);
  await shows(ana.page, /Ana[\s\S]+\nyou\s+\S+/);
  await voice;
  expect(await eva.page.getByRole('button', { name: 'Hold to speak' }).count()).toBe(0);
  for (const { page } of [ana, eva]) {
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(faultsOf.get(page)).toEqual([]);
  }
  await eva.page.getByRole('button', { name: 'Leave' }).click();
  await shows(eva.page, 'You have left the room');
  await expect.poll(() => ana.page.locator('.people').innerText()).not.toContain('Eva');
  await ana.page.context().close();
  await eva.page.context().close();
});

it('without https a guest is told why it can only listen', async () => {
  const page = await world.open(`http://scheduler.test:${world.port}${await openRoom()}`);
  await shows(page, 'Browsers give the microphone only to pages from https');
  expect(await page.getByLabel('With microphone').isDisabled()).toBe(true);
  await page.getByLabel('Your name').fill('Ana');
  await page.getByRole('button', { name: 'Join' }).click();
  await shows(page, 'Ana (you)');
  expect(await page.getByRole('button', { name: 'Hold to speak' }).count()).toBe(0);
  await page.context().close();
});
