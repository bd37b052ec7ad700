/**
 * Silero's voice activity detector: for each 32 ms of sound, how likely somebody speaks. Its network is small enough for plain
 * TypeScript (0.7 million multiplications a frame), so the page needs neither WebAssembly nor a runtime. Pure.
 */
import { readTensors } from './read-tensors.ts';

export const SAMPLE_RATE = 16_000;
export const FRAME_SAMPLES = 512;
/** The end of the frame before is looked at again. */
const CONTEXT_SAMPLES = 64;
const PADDING = 64;
const WINDOW = 256;
const HOP = 128;
const FREQUENCIES = 129;
const MEMORY = 128;
/** Weights for 16 kHz; the file has those for 8 kHz, too. */
const PREFIX = 'If_0_then_branch__Inline_0__';

export interface VoiceDetector {
  /** From 0 to 1, for the next frame of the same sound. */
  probabilityOf(frame: Float32Array): number;
  /** Forgets what was heard. */
  reset(): void;
}

interface Layer {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
  readonly inputs: number;
  readonly outputs: number;
  readonly stride: number;
}

/** `model`: the bytes of silero_vad_v5.onnx or silero_vad_v6.onnx. Throws a RangeError if it is another model. */
export function createSilero(model: Uint8Array): VoiceDetector {
  const tensors = readTensors(model);
  const weights = (name: string, length: number): Float32Array => {
    const found = tensors.get(PREFIX + name);
    if (found?.length === length) return found;
    throw new RangeError(`the voice model has ${found?.length ?? 'no'} weights ${name} instead of ${length}`);
  };
  const basis = weights('stft.forward_basis_buffer', 2 * FREQUENCIES * WINDOW);
  const layer = (index: number, inputs: number, outputs: number, stride: number): Layer => ({
    weight: weights(`encoder.${index}.reparam_conv.weight`, outputs * inputs * 3),
    bias: weights(`encoder.${index}.reparam_conv.bias`, outputs),
    ...{ inputs, outputs, stride },
  });
  const layers = [
    layer(0, FREQUENCIES, 128, 1),
    layer(1, 128, 64, 2),
    layer(2, 64, 64, 2),
    layer(3, 64, MEMORY, 1),
  ];
  const lstm = {
    input: weights('decoder.rnn.weight_ih', 4 * MEMORY * MEMORY),
    hidden: weights('decoder.rnn.weight_hh', 4 * MEMORY * MEMORY),
    inputBias: weights('decoder.rnn.bias_ih', 4 * MEMORY),
    hiddenBias: weights('decoder.rnn.bias_hh', 4 * MEMORY),
  };
  const output = weights('decoder.decoder.2.weight', MEMORY);
  const [outputBias = 0] = weights('decoder.decoder.2.bias', 1);

  let context = new Float32Array(CONTEXT_SAMPLES);
  let hidden = new Float32Array(MEMORY);
  let cell = new Float32Array(MEMORY);

  function remember(input: Float32Array): void {
    const next = { hidden: new Float32Array(MEMORY), cell: new Float32Array(MEMORY) };
    const gate = (row: number): number =>
      (lstm.inputBias[row] ?? 0) +
      (lstm.hiddenBias[row] ?? 0) +
      product(lstm.input, row * MEMORY, input) +
      product(lstm.hidden, row * MEMORY, hidden);
    for (let unit = 0; unit < MEMORY; unit += 1) {
      const taken = sigmoid(gate(unit)) * Math.tanh(gate(2 * MEMORY + unit));
      const kept = sigmoid(gate(MEMORY + unit)) * (cell[unit] ?? 0);
      next.cell[unit] = taken + kept;
      next.hidden[unit] = sigmoid(gate(3 * MEMORY + unit)) * Math.tanh(taken + kept);
    }
    ({ hidden, cell } = next);
  }

  return {
    probabilityOf(frame) {
      if (frame.length !== FRAME_SAMPLES)
        throw new RangeError(`a frame has ${FRAME_SAMPLES} samples, not ${frame.length}`);
      const sound = withReflection(context, frame);
      context = frame.slice(-CONTEXT_SAMPLES);
      let columns = spectrum(sound, basis);
      for (const each of layers) columns = convolve(columns, each);
      for (const column of columns) remember(column);
      return sigmoid(outputBias + product(output, 0, hidden.map(positive)));
    },
    reset() {
      context = new Float32Array(CONTEXT_SAMPLES);
      hidden = new Float32Array(MEMORY);
      cell = new Float32Array(MEMORY);
    },
  };
}

/** The frame behind its context, and its own end mirrored behind it. */
function withReflection(context: Float32Array, frame: Float32Array): Float32Array {
  const sound = new Float32Array(CONTEXT_SAMPLES + FRAME_SAMPLES + PADDING);
  sound.set(context);
  sound.set(frame, CONTEXT_SAMPLES);
  const end = CONTEXT_SAMPLES + FRAME_SAMPLES;
  for (let at = 0; at < PADDING; at += 1) sound[end + at] = sound[end - 2 - at] ?? 0;
  return sound;
}

/** One column of magnitudes per window. */
function spectrum(sound: Float32Array, basis: Float32Array): Float32Array[] {
  const columns: Float32Array[] = [];
  for (let start = 0; start + WINDOW <= sound.length; start += HOP) {
    const window = sound.subarray(start, start + WINDOW);
    columns.push(
      Float32Array.from({ length: FREQUENCIES }, (_, row) =>
        Math.hypot(
          product(basis, row * WINDOW, window),
          product(basis, (FREQUENCIES + row) * WINDOW, window),
        ),
      ),
    );
  }
  return columns;
}

/** Three columns wide, with a column of zeros at both ends; negative results become zero. */
function convolve(columns: readonly Float32Array[], { weight, bias, inputs, outputs, stride }: Layer) {
  const made: Float32Array[] = [];
  for (let middle = 0; middle < columns.length; middle += stride) {
    const column = new Float32Array(outputs);
    for (let row = 0; row < outputs; row += 1) {
      let sum = bias[row] ?? 0;
      for (let side = 0; side < 3; side += 1) {
        const near = columns[middle + side - 1];
        if (near === undefined) continue;
        for (let input = 0, at = row * inputs * 3 + side; input < inputs; input += 1, at += 3)
          sum += (weight[at] ?? 0) * (near[input] ?? 0);
      }
      column[row] = positive(sum);
    }
    made.push(column);
  }
  return made;
}

function product(matrix: Float32Array, start: number, vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (matrix[start + at] ?? 0) * (vector[at] ?? 0);
  return sum;
}

const positive = (value: number): number => Math.max(0, value);
const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));
