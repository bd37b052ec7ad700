/** Plays translations one after another, and the own voice below them for listeners with headphones. */
import { isIos, ownVoiceGain } from './own-voice.ts';
import { SAMPLE_RATE } from './voice/silero.ts';

/** Long enough to hear no click. */
const FADE_S = 0.05;

export interface Loudspeaker {
  readonly isPlaying: boolean;
  /** Whether the own voice is heard; only with headphones, or the microphone would take it again. */
  setOwnVoice(isWanted: boolean): void;
  /** pcm16 at 16 kHz, after what plays already. Resolves when it has ended. */
  play(sound: Uint8Array, onStart: () => void): Promise<void>;
}

/** `voice`: the own one; absent: it is never heard. */
export function createLoudspeaker(context: AudioContext, voice?: AudioNode): Loudspeaker {
  const own = context.createGain();
  own.gain.value = 0;
  voice?.connect(own).connect(context.destination);
  let isWanted = false;
  let isPlaying = false;
  let playing = Promise.resolve();

  function adjust(): void {
    const gain = ownVoiceGain({ isWanted, isPlaying, isIos: isIos(navigator) });
    own.gain.setTargetAtTime(gain, context.currentTime, FADE_S / 3);
  }

  async function playNow(sound: Uint8Array, onStart: () => void): Promise<void> {
    isPlaying = true;
    adjust();
    onStart();
    try {
      await sounded(context, sound);
    } finally {
      isPlaying = false;
      adjust();
    }
  }

  return {
    get isPlaying() {
      return isPlaying;
    },
    setOwnVoice(wanted) {
      isWanted = wanted;
      adjust();
    },
    play(sound, onStart) {
      playing = playing.then(() => playNow(sound, onStart)).catch(() => {});
      return playing;
    },
  };
}

function sounded(context: AudioContext, sound: Uint8Array): Promise<void> {
  const samples = new Int16Array(
    sound.buffer.slice(sound.byteOffset, sound.byteOffset + (sound.byteLength & ~1)),
  );
  const buffer = context.createBuffer(1, Math.max(1, samples.length), SAMPLE_RATE);
  buffer.getChannelData(0).set(Float32Array.from(samples, (sample) => sample / 32_768));
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  return new Promise((resolve) => {
    source.onended = () => resolve();
    source.start();
  });
}
