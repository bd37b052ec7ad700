/** Fetches the voice model, a file of its own (2.3 MB), when hands-free talk begins for the first time. */
import modelAddress from '@ricky0123/vad-web/dist/silero_vad_v5.onnx?url';
import { createSilero, type VoiceDetector } from './silero.ts';

let model: Promise<Uint8Array> | undefined;

export async function loadDetector(): Promise<VoiceDetector> {
  model ??= fetchModel();
  // A failed load is tried again at the next start.
  model.catch(() => {
    model = undefined;
  });
  return createSilero(await model);
}

async function fetchModel(): Promise<Uint8Array> {
  const response = await fetch(modelAddress);
  if (!response.ok) throw new Error(`the voice model could not be loaded: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
