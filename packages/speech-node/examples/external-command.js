/**
 * Engines that run an external command per call: lingua-speech-node --engines examples/external-command.js
 *   ASR_COMMAND   reads a WAV file (16 kHz, mono) from its input, prints the text:
 *                 whisper-cli -m ggml-base.bin -l en -nt -np -f -
 *   TTS_COMMAND   reads text from its input, prints a WAV file:
 *                 piper --model es_ES-davefx-medium.onnx --output_file -
 * An engine without its command is the built-in one. Words are separated by spaces; there is no shell.
 */
import {
  createTurns,
  hasSpeech,
  readWav,
  resample,
  runProgram,
  SAMPLE_RATE,
  toPcm16,
  writeWav,
} from '@lingua/speech-node';

const LIMITS = { atOnce: 2, waiting: 8 };
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_SOUND_BYTES = 16 * 1024 * 1024;

export default function engines(env = process.env) {
  return {
    ...(env.ASR_COMMAND && { recognizers: [commandRecognizer(env.ASR_COMMAND, ['en'])] }),
    ...(env.TTS_COMMAND && { synthesizers: [commandSynthesizer(env.TTS_COMMAND, ['es'])] }),
  };
}

export function commandRecognizer(command, languages, limits = LIMITS) {
  const run = runner(command, limits, MAX_TEXT_BYTES);
  return {
    model: run.program,
    languages,
    async recognize(speech, language, signal) {
      mustBeOneOf(languages, language);
      // Models invent words for silence.
      const output = hasSpeech(speech) ? await run(writeWav(toPcm16(speech)), signal) : '';
      return output.toString().replace(/\s+/g, ' ').trim();
    },
    close: run.close,
  };
}

export function commandSynthesizer(command, languages, limits = LIMITS) {
  const run = runner(command, limits, MAX_SOUND_BYTES);
  return {
    model: run.program,
    languages,
    async speak(text, language, signal) {
      mustBeOneOf(languages, language);
      if (!/[\p{L}\p{N}]/u.test(text)) return new Int16Array();
      const { samples, sampleRate } = readWav(await run(text, signal));
      return toPcm16(resample(samples, sampleRate, SAMPLE_RATE));
    },
    close: run.close,
  };
}

/** Bounds how many commands run and wait; an abort, or `close`, ends them. */
function runner(command, limits, maxBytes) {
  const [program, ...args] = command.split(' ').filter((word) => word !== '');
  const turns = createTurns({ engine: program, ...limits });
  const closing = new AbortController();
  const run = (input, signal) => {
    signal.throwIfAborted();
    const either = AbortSignal.any([signal, closing.signal]);
    return turns.take(signal, () => runProgram({ program, args, input, signal: either, maxBytes }));
  };
  const close = async () => {
    turns.close();
    closing.abort(new Error(`${program} is closed`));
  };
  return Object.assign(run, { program, close });
}

function mustBeOneOf(languages, language) {
  if (!languages.includes(language)) throw new TypeError(`this engine has no ${language}`);
}
