/** One person's speech from the microphone: while a button is held, or whenever the voice detector hears it. */
import { signal } from '@preact/signals';
import { type Frame, type Microphone, type NoMicrophone, obstacleOf, openMicrophone } from './microphone.ts';
import { loadDetector } from './voice/load-detector.ts';
import { SAMPLE_RATE, type VoiceDetector } from './voice/silero.ts';
import { CLOSED_GATE, hear } from './voice/voice-gate.ts';

/** Sent before the frame at which the gate opened, so that the first sound of a word is not lost. */
const FRAMES_BEFORE = 10;

export type Capture = ReturnType<typeof createCapture>;

export function createCapture(to: {
  begin(): void;
  send(bytes: Uint8Array): void;
  end(): void;
  /** The loudspeaker plays, and the microphone would take its sound for speech. */
  isDeaf(): boolean;
  opened?(microphone: Microphone): void;
  /** The voice detector could not be loaded. */
  failed(message: string): void;
}) {
  const loudness = signal(0);
  const obstacle = signal<NoMicrophone | undefined>(undefined);
  let microphone: Microphone | undefined;
  let detector: VoiceDetector | undefined;
  let isSpeaking = false;
  let isHandsFree = false;
  let isHeld = false;
  let gate = CLOSED_GATE;
  let before: Frame[] = [];

  async function open(): Promise<void> {
    if (microphone !== undefined) return;
    microphone = await openMicrophone(onFrame);
    to.opened?.(microphone);
  }

  function begin(): void {
    if (isSpeaking) return;
    isSpeaking = true;
    to.begin();
  }

  function end(): void {
    if (!isSpeaking) return;
    isSpeaking = false;
    to.end();
  }

  function onFrame(frame: Frame): void {
    loudness.value = frame.loudness;
    if (isHandsFree && detector !== undefined) {
      const isDeaf = to.isDeaf();
      if (isDeaf) detector.reset();
      gate = isDeaf
        ? CLOSED_GATE
        : hear(gate, detector.probabilityOf(toFloats(frame)), (1_000 * frame.samples.length) / SAMPLE_RATE);
      if (gate.isOpen) begin();
      else end();
    }
    if (isSpeaking) {
      for (const kept of before) to.send(toBytes(kept));
      before = [];
      to.send(toBytes(frame));
    } else before = isHandsFree ? [...before.slice(1 - FRAMES_BEFORE), frame] : [];
  }

  return {
    loudness,
    obstacle,
    /** The first call asks the person for the microphone. */
    async press(): Promise<void> {
      if (isSpeaking) return;
      isHeld = true;
      try {
        await open();
        obstacle.value = undefined;
        // The button may have been released while the browser asked the person.
        if (isHeld) begin();
      } catch (error) {
        obstacle.value = obstacleOf(error);
      }
    },
    release(): void {
      isHeld = false;
      end();
    },
    /** Hands-free. True: it listens from now on. */
    async listen(isOn: boolean): Promise<boolean> {
      isHandsFree = isOn;
      gate = CLOSED_GATE;
      if (!isOn) {
        end();
        return false;
      }
      try {
        // Before the microphone, so that the first words are not lost.
        detector ??= await loadDetector();
        detector.reset();
        await open();
        obstacle.value = undefined;
        return true;
      } catch (error) {
        isHandsFree = false;
        if (detector !== undefined) obstacle.value = obstacleOf(error);
        else to.failed(error instanceof Error ? error.message : String(error));
        return false;
      }
    },
    stop(): void {
      isHandsFree = false;
      end();
      microphone?.stop();
      microphone = undefined;
    },
  };
}

const toFloats = ({ samples }: Frame): Float32Array =>
  Float32Array.from(samples, (sample) => sample / 32_768);

const toBytes = ({ samples }: Frame): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
