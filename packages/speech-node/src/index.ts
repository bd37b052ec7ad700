/** What a program with its own engines uses of this package. */
export { hasSpeech } from './audio/has-speech.ts';
export { resample } from './audio/resample.ts';
export { readWav, type Sound, samplesOf, toPcm16, writeWav } from './audio/wav.ts';
export { APERTIUM_LIMITS, createApertiumTranslator } from './engines/apertium/apertium-translator.ts';
export {
  type Engines,
  type OfferedPair,
  type Pair,
  type Recognizer,
  SAMPLE_RATE,
  type Synthesizer,
  type Translator,
} from './engines/engines.ts';
export { createEspeakSynthesizer } from './engines/espeak/espeak-synthesizer.ts';
export { createMoonshineRecognizer } from './engines/moonshine/moonshine-recognizer.ts';
export { type ProgramRun, runProgram } from './engines/run-program.ts';
export { createTurns, type Turns } from './engines/turns.ts';
export { createSpeechNode, type SpeechNodeOptions } from './node/create-speech-node.ts';
export { ENGLISH, SPANISH } from './setup/parts.ts';
