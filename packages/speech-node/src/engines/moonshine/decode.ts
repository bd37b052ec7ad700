/** Runs a Moonshine model on ONNX Runtime: an encoder, and a decoder that gives one token at a time. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Model } from '../../setup/parts.ts';
import { SAMPLE_RATE } from '../engines.ts';

/** The part of ONNX Runtime that is used here; the package itself is in the cache folder only. */
interface Tensor {
  readonly data: Float32Array;
}
type Tensors = Record<string, Tensor>;
interface Session {
  run(inputs: Tensors): Promise<Tensors>;
}
interface OnnxRuntime {
  readonly Tensor: new (type: string, data: unknown, shape: readonly number[]) => Tensor;
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
}
interface Tokenizer {
  decode(tokens: readonly number[]): string;
}

export type Decoder = (speech: Float32Array, isCancelled: () => boolean) => Promise<string | undefined>;

const FIRST_TOKEN = 1;
const LAST_TOKEN = 2;
/** More than its speed allows for very short speech. */
const EXTRA_TOKENS = 3;
/** One worker per core: further threads of the runtime would only compete with other workers. */
const SESSION_OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1 };

export async function loadDecoder(folder: string, model: Model): Promise<Decoder> {
  const onnx = createRequire(join(folder, 'package.json'))('onnxruntime-node') as OnnxRuntime;
  const file = join(folder, 'node_modules/llama-tokenizer-js/llama-tokenizer.js');
  const tokenizer = ((await import(pathToFileURL(file).href)) as { readonly default: Tokenizer }).default;
  const weights = join(folder, model.part.folder, model.weights);
  const open = (name: string) => onnx.InferenceSession.create(join(weights, name), SESSION_OPTIONS);
  const [encoder, decoder] = [await open('encoder_model.onnx'), await open('decoder_model_merged.onnx')];
  const tensor = (type: string, data: unknown, shape: readonly number[]) =>
    new onnx.Tensor(type, data, shape);

  function emptyMemory(): Tensors {
    const memory: Tensors = {};
    for (let layer = 0; layer < model.layers; layer += 1)
      for (const half of ['decoder', 'encoder'])
        for (const side of ['key', 'value'])
          memory[`past_key_values.${layer}.${half}.${side}`] = tensor('float32', new Float32Array(), [
            0,
            model.heads,
            1,
            model.headSize,
          ]);
    return memory;
  }

  return async (speech, isCancelled) => {
    const encoded = await encoder.run({ input_values: tensor('float32', speech, [1, speech.length]) });
    const states = encoded.last_hidden_state as Tensor;
    const memory = emptyMemory();
    const tokens = [FIRST_TOKEN];
    const most = Math.ceil((speech.length / SAMPLE_RATE) * model.tokensPerSecond) + EXTRA_TOKENS;
    for (let step = 0; step < most; step += 1) {
      if (isCancelled()) return undefined;
      const last = tokens[tokens.length - 1] ?? FIRST_TOKEN;
      const out = await decoder.run({
        input_ids: tensor('int64', BigInt64Array.of(BigInt(last)), [1, 1]),
        encoder_hidden_states: states,
        use_cache_branch: tensor('bool', Uint8Array.of(step > 0 ? 1 : 0), [1]),
        ...memory,
      });
      const next = likeliest((out.logits as Tensor).data);
      if (next === LAST_TOKEN) break;
      tokens.push(next);
      // The encoder's half does not change after the first step; the model then returns nothing useful for it.
      for (const name of Object.keys(memory))
        if (step === 0 || name.includes('.decoder.'))
          memory[name] = out[name.replace('past_key_values', 'present')] as Tensor;
    }
    return tokenizer.decode(tokens).trim();
  };
}

function likeliest(scores: Float32Array): number {
  let best = 0;
  for (let index = 1; index < scores.length; index += 1)
    if ((scores[index] ?? 0) > (scores[best] ?? 0)) best = index;
  return best;
}
