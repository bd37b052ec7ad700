/** Engines that run an external command, as examples/external-command.js shows, are engines like the built-in ones. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { recognizerContract } from '../contracts/recognizer-contract.ts';
import { synthesizerContract } from '../contracts/synthesizer-contract.ts';
import { NEVER } from '../support/never.ts';
import { externalCommand, SMALL } from './examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

function command(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const HEADER_BYTES = 44;
const count = command('count', 'echo "a file of $(wc -c) bytes"');
const hang = command('hang', 'exec sleep 600');
const sound = (samples: number) => new Float32Array(samples).fill(0.5);

recognizerContract('an external command', {
  open: async () => externalCommand.commandRecognizer(count, ['en']),
  openSmall: async () => externalCommand.commandRecognizer(hang, ['en'], SMALL),
  language: 'en',
  utterances: async () =>
    [8_000, 16_000].map(
      (samples) => [sound(samples), new RegExp(`a file of ${HEADER_BYTES + 2 * samples} bytes`)] as const,
    ),
});

synthesizerContract('an external command', {
  open: () => externalCommand.commandSynthesizer('espeak-ng -v es -b 1 --stdin --stdout', ['es']),
  openBusy: () => externalCommand.commandSynthesizer(hang, ['es'], SMALL),
  language: 'es',
});

it('an engine without its command is left to the built-in one', () => {
  expect(externalCommand.default({})).toEqual({});
  expect(Object.keys(externalCommand.default({ ASR_COMMAND: 'x' }))).toEqual(['recognizers']);
});

it('a command that fails is named with what it printed', async () => {
  const broken = externalCommand.commandRecognizer(command('broken', 'echo no model >&2; exit 3'), ['en']);
  await expect(broken.recognize(sound(16_000), 'en', NEVER)).rejects.toThrow(/broken: .*3: no model/);
});
