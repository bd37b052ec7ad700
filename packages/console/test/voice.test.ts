/** The voice detector, and when hands-free talk begins and ends, without a browser. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resample } from '../../speech-node/src/audio/resample.ts';
import { readWav } from '../../speech-node/src/audio/wav.ts';
import { isIos, ownVoiceGain } from '../src/talk/own-voice.ts';
import { createSilero, FRAME_SAMPLES } from '../src/talk/voice/silero.ts';
import { CLOSED_GATE, CLOSES_AFTER_MS, type GateState, hear } from '../src/talk/voice/voice-gate.ts';

const FRAME_MS = 32;
const model = new Uint8Array(
  readFileSync(new URL('../../../node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx', import.meta.url)),
);

function probabilities(sound: Float32Array): number[] {
  const detector = createSilero(model);
  const found: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= sound.length; at += FRAME_SAMPLES)
    found.push(detector.probabilityOf(sound.slice(at, at + FRAME_SAMPLES)));
  return found;
}

describe("Silero's network in TypeScript", () => {
  /** A rising tone with a known result of ONNX Runtime 1.30 on the same file. */
  it('gives the numbers of ONNX Runtime', () => {
    const sound = Float32Array.from(
      { length: 5 * FRAME_SAMPLES },
      (_, at) => 0.3 * Math.sin((at * at) / 9_000),
    );
    const expected = [0.4805312, 0.1565259, 0.046715, 0.1411559, 0.034579];
    for (const [index, probability] of probabilities(sound).entries())
      expect(probability).toBeCloseTo(expected[index] ?? -1, 5);
  });

  it('hears speech, and neither silence, a tone nor noise', () => {
    const { stdout } = spawnSync('espeak-ng', [
      '-v',
      'en-us',
      '--stdout',
      'The museum is closed on Mondays.',
    ]);
    const { samples, sampleRate } = readWav(stdout);
    const spoken = probabilities(resample(samples, sampleRate, 16_000));
    const voiced = spoken.filter((probability) => probability > 0.5).length;
    expect(voiced / spoken.length).toBeGreaterThan(0.7);
    const tone = Float32Array.from({ length: 8_000 }, (_, at) => 0.3 * Math.sin(at * 0.1));
    for (const sound of [new Float32Array(8_000), tone])
      expect(Math.max(...probabilities(sound).slice(5))).toBeLessThan(0.5);
  });

  it('refuses another model and another length', () => {
    expect(() => createSilero(new Uint8Array([0x08, 0x08]))).toThrow(/no weights stft/);
    expect(() => createSilero(model).probabilityOf(new Float32Array(640))).toThrow(/512 samples, not 640/);
  });
});

describe('the voice gate', () => {
  const after = (state: GateState, probability: number, ms: number): GateState => {
    let next = state;
    for (let at = 0; at < ms; at += FRAME_MS) next = hear(next, probability, FRAME_MS);
    return next;
  };

  it('opens for speech and closes after a pause', () => {
    const speaking = after(CLOSED_GATE, 0.9, 200);
    expect(speaking.isOpen).toBe(true);
    expect(after(speaking, 0.01, CLOSES_AFTER_MS - 100).isOpen).toBe(true);
    expect(after(speaking, 0.01, CLOSES_AFTER_MS + 100).isOpen).toBe(false);
  });

  it('stays closed for one frame, and for sound that is only unsure', () => {
    expect(hear(CLOSED_GATE, 0.9, FRAME_MS).isOpen).toBe(false);
    expect(after(CLOSED_GATE, 0.4, 2_000).isOpen).toBe(false);
  });

  it('a pause inside a sentence keeps it open', () => {
    const paused = after(after(CLOSED_GATE, 0.9, 500), 0.01, CLOSES_AFTER_MS - 200);
    expect(after(after(paused, 0.9, 100), 0.01, CLOSES_AFTER_MS - 200).isOpen).toBe(true);
  });
});

it('the own voice is heard on request only, and lowered under a translation', () => {
  const gain = (isWanted: boolean, isPlaying: boolean, isIos = false) =>
    ownVoiceGain({ isWanted, isPlaying, isIos });
  expect([gain(false, false), gain(false, true)]).toEqual([0, 0]);
  expect([gain(true, false), gain(true, true)]).toEqual([1, 0.15]);
  expect([gain(true, false, true), gain(true, true, true)]).toEqual([1, 0]);
});

it('an iPad that calls itself a Mac is recognised by its touch screen', () => {
  const device = (userAgent: string, maxTouchPoints: number) => isIos({ userAgent, maxTouchPoints });
  expect(device('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)', 5)).toBe(true);
  expect(device('Mozilla/5.0 (Macintosh; Intel Mac OS X)', 5)).toBe(true);
  expect(device('Mozilla/5.0 (Macintosh; Intel Mac OS X)', 0)).toBe(false);
  expect(device('Mozilla/5.0 (Linux; Android 15)', 5)).toBe(false);
});
