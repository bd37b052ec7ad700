/** Gives the microphone's sound to the page as 16-bit samples, in frames as long as those of the voice detector, with their loudness. */
const FRAME_SAMPLES = 512;

registerProcessor(
  'recorder',
  class extends AudioWorkletProcessor {
    samples = new Int16Array(FRAME_SAMPLES);
    filled = 0;
    energy = 0;

    process([[channel]]) {
      for (const sample of channel ?? []) {
        const bounded = Math.max(-1, Math.min(1, sample));
        this.energy += bounded * bounded;
        this.samples[this.filled++] = bounded * 32_767;
        if (this.filled === this.samples.length) this.send();
      }
      return true;
    }

    send() {
      const samples = this.samples.slice();
      this.port.postMessage({ samples, loudness: Math.sqrt(this.energy / samples.length) }, [samples.buffer]);
      this.filled = 0;
      this.energy = 0;
    }
  },
);
