/** Opens the engines of the command: the built-in ones, or those of a module of the user. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApertiumTranslator } from '../engines/apertium/apertium-translator.ts';
import type { Engines } from '../engines/engines.ts';
import { createEspeakSynthesizer } from '../engines/espeak/espeak-synthesizer.ts';
import { createMoonshineRecognizer } from '../engines/moonshine/moonshine-recognizer.ts';
import { cacheFolder } from '../setup/cache-folder.ts';
import { ENGLISH, type Model, SPANISH } from '../setup/parts.ts';
import type { Options } from './read-options.ts';

/** What the module of `--engines` exports as `default`, or returns from the function that it exports. */
export type OwnEngines = Partial<Engines>;

export const modelsFor = ({ isSpanishWanted }: Pick<Options, 'isSpanishWanted'>): readonly Model[] =>
  isSpanishWanted ? [ENGLISH, SPANISH] : [ENGLISH];

/** Only engines of stages that the node offers are opened; a list that the user's module has replaces the built-in one. */
export async function openEngines(
  options: Pick<Options, 'stages' | 'workers' | 'isSpanishWanted' | 'enginesFile'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Engines> {
  const { stages } = options;
  const own = options.enginesFile === undefined ? {} : await load(options.enginesFile);
  const translators = own.translators ?? (stages.includes('nmt') ? [await createApertiumTranslator()] : []);
  if (stages.includes('nmt') && translators.every(({ pairs }) => pairs.length === 0))
    throw new Error(
      'no language pair of Apertium is installed; on Debian: apt-get install apertium-eng-spa (and apertium-eng-cat, apertium-eo-en, apertium-es-pt, apertium-fr-es, apertium-spa-ita, apertium-es-gl)',
    );
  return {
    translators,
    synthesizers: own.synthesizers ?? (stages.includes('tts') ? [createEspeakSynthesizer()] : []),
    recognizers:
      own.recognizers ??
      (stages.includes('asr')
        ? [
            await createMoonshineRecognizer({
              folder: cacheFolder(env),
              models: modelsFor(options),
              workers: options.workers,
            }),
          ]
        : []),
  };
}

export const closeEngines = async ({ recognizers, translators, synthesizers }: Engines): Promise<void> => {
  await Promise.all([...recognizers, ...translators, ...synthesizers].map((engine) => engine.close()));
};

async function load(file: string): Promise<OwnEngines> {
  const { default: exported } = (await import(pathToFileURL(resolve(file)).href)) as {
    readonly default?: unknown;
  };
  const engines: unknown = typeof exported === 'function' ? await exported() : exported;
  if (typeof engines !== 'object' || engines === null)
    throw new Error(`${file} has no default export with recognizers, translators or synthesizers`);
  const names = ['recognizers', 'translators', 'synthesizers'];
  const strange = Object.keys(engines).find((name) => !names.includes(name));
  if (strange !== undefined)
    throw new Error(`${file} exports "${strange}"; it may export ${names.join(', ')}`);
  return engines as OwnEngines;
}
