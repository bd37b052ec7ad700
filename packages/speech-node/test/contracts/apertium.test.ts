import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApertiumTranslator } from '../../src/engines/apertium/apertium-translator.ts';
import { MODES_FOLDER } from '../../src/engines/apertium/installed-pairs.ts';
import { NEVER } from '../support/never.ts';
import { writeProgram } from '../support/write-program.ts';
import { translatorContract } from './translator-contract.ts';

const EN_ES = { source: 'en', target: 'es' };

/** Modes of the test's own, by name. */
async function openWith(modes: Readonly<Record<string, string>>, options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'modes-'));
  for (const [name, text] of Object.entries(modes)) await writeFile(join(folder, `${name}.mode`), text);
  const translator = await createApertiumTranslator({ modesFolder: folder, ...options });
  onTestFinished(async () => {
    await translator.close();
    await rm(folder, { recursive: true });
  });
  return translator;
}

const openBusy = () => openWith({ 'eng-spa': writeProgram('exec sleep 600') }, { waiting: 1 });

translatorContract('Apertium, direct', {
  open: createApertiumTranslator,
  openBusy,
  pair: EN_ES,
  known: [
    ['The museum is closed on Mondays.', /museo.*cerrado.*lunes\.$/],
    ['I need to see a doctor.', /^Necesito ver un doctor\.$/],
  ],
});

translatorContract('Apertium, through Spanish', {
  open: createApertiumTranslator,
  openBusy: async () =>
    openWith({ 'eng-spa': writeProgram('exec sleep 600'), 'es-pt': 'cat' }, { waiting: 1 }),
  pair: { source: 'en', target: 'pt' },
  known: [['The museum is closed on Mondays.', /museu.*fechado/]],
});

describe('Apertium', () => {
  it('says which pairs lead through another language', async () => {
    const { pairs } = await createApertiumTranslator();
    expect(pairs).toContainEqual({ source: 'en', target: 'es', modes: ['eng-spa'] });
    expect(pairs).toContainEqual({ source: 'en', target: 'pt', via: 'es', modes: ['eng-spa', 'es-pt'] });
  });

  it('starts a pipeline again that has ended, and fails only the text it had', async () => {
    // The first run ends at its text, later ones give it back.
    const program = writeProgram('if [ -e "$0.again" ]; then exec cat; fi; touch "$0.again"; head -c 9');
    const translator = await openWith({ 'eng-spa': program });
    await expect(translator.translate('first', EN_ES, NEVER)).rejects.toThrow(/eng-spa.*ended/);
    expect(await translator.translate('second', EN_ES, NEVER)).toBe('second');
  });

  it('ends a pipeline that does not answer', async () => {
    const translator = await openWith({ 'eng-spa': writeProgram('exec sleep 600') }, { answerMs: 20 });
    await expect(translator.translate('text', EN_ES, NEVER)).rejects.toThrow(/no answer within 20 ms/);
  });

  it('translates with a copy of a mode after one text was aborted', async () => {
    const mode = await readFile(join(MODES_FOLDER, 'eng-spa.mode'), 'utf8');
    const translator = await openWith({ 'eng-spa': mode });
    const controller = new AbortController();
    const calls = ['dog', 'house', 'cat'].map((word, index) =>
      translator.translate(`The ${word}.`, EN_ES, index === 1 ? controller.signal : NEVER),
    );
    controller.abort(new Error('enough'));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes).toMatchObject([{ value: 'El perro.' }, { status: 'rejected' }, { value: 'El gato.' }]);
  });

  it('ends the direction that was not used for longest when there are too many', async () => {
    // Each run of the program gives its own process id; one line is one text.
    const program = writeProgram('while read -r line; do printf "$$\\0"; done');
    const translator = await openWith(
      { 'eng-spa': program, 'eng-cat': program, 'spa-eng': program },
      { pipelines: 2 },
    );
    const runOf = (source: string, target: string) => translator.translate('x', { source, target }, NEVER);
    const [first, second] = [await runOf('en', 'es'), await runOf('en', 'ca')];
    expect(await runOf('en', 'es')).toBe(first);
    await runOf('es', 'en');
    expect(await runOf('en', 'es')).toBe(first);
    expect(await runOf('en', 'ca')).not.toBe(second);
  });

  it('a prepared direction is started before its first text', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'started-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const translator = await openWith({ 'eng-spa': writeProgram(`touch ${folder}/mark; exec cat`) });
    translator.prepare?.({ source: 'es', target: 'en' });
    translator.prepare?.(EN_ES);
    await expect.poll(() => readdir(folder)).toEqual(['mark']);
  });

  it('refuses a text that is too long', async () => {
    const translator = await createApertiumTranslator({ textLength: 10 });
    await expect(translator.translate('more than ten', EN_ES, NEVER)).rejects.toThrow(/longer than 10/);
  });
});
