// Runs on the browser's audio thread: collects samples of the microphone and posts them as 16-bit integers.
const SAMPLES = 1600;

registerProcessor(
  'pcm16',
  class extends AudioWorkletProcessor {
    samples = new Int16Array(SAMPLES);
    filled = 0;

    process([[channel]]) {
      for (const sample of channel ?? []) {
        this.samples[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32_767;
        if (this.filled < SAMPLES) continue;
        this.port.postMessage(this.samples);
        this.filled = 0;
      }
      return true;
    }
  },
);
