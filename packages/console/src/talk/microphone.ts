/** The microphone as frames of 16-bit samples at 16 kHz, and why there is none. */
import { addressOf } from '../data/request.ts';
import { SAMPLE_RATE } from './voice/silero.ts';

export interface Frame {
  readonly samples: Int16Array;
  /** From 0 to 1. */
  readonly loudness: number;
}

export interface Microphone {
  readonly context: AudioContext;
  /** Its sound, to be connected to others of the context. */
  readonly source: AudioNode;
  stop(): void;
}

export type NoMicrophone = 'insecure' | 'denied' | 'absent' | 'failed';

/** Browsers give the microphone only to pages from https or from this machine itself. */
export const findObstacle = (): NoMicrophone | undefined => {
  if (!isSecureContext) return 'insecure';
  return navigator.mediaDevices === undefined ? 'absent' : undefined;
};

export async function openMicrophone(onFrame: (frame: Frame) => void): Promise<Microphone> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  });
  const context = new AudioContext({ sampleRate: SAMPLE_RATE });
  await context.audioWorklet.addModule(addressOf('recorder-worklet.js'));
  const recorder = new AudioWorkletNode(context, 'recorder', { numberOfOutputs: 0 });
  recorder.port.onmessage = ({ data }: MessageEvent<Frame>) => onFrame(data);
  const source = context.createMediaStreamSource(stream);
  source.connect(recorder);
  await context.resume();
  return {
    context,
    source,
    stop() {
      for (const track of stream.getTracks()) track.stop();
      void context.close();
    },
  };
}

export function obstacleOf(error: unknown): NoMicrophone {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') return 'denied';
  return name === 'NotFoundError' ? 'absent' : 'failed';
}
