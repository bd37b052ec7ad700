import { describe, expect, it } from 'vitest';
import { SAMPLE_RATE } from '../../src/engines/engines.ts';
import { createEspeakSynthesizer } from '../../src/engines/espeak/espeak-synthesizer.ts';
import { NEVER } from '../support/never.ts';
import { writeProgram } from '../support/write-program.ts';
import { synthesizerContract } from './synthesizer-contract.ts';

synthesizerContract('espeak-ng', {
  open: createEspeakSynthesizer,
  openBusy: () => createEspeakSynthesizer({ program: writeProgram('exec sleep 600'), atOnce: 1, waiting: 1 }),
  language: 'es',
});

describe('espeak-ng', () => {
  it('speaks about as long as its own rate says, at 16 kHz', async () => {
    const pcm = await createEspeakSynthesizer().speak('uno dos tres cuatro cinco', 'es', NEVER);
    const seconds = pcm.length / SAMPLE_RATE;
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(4);
  });

  it('names the program that is missing', async () => {
    const synthesizer = createEspeakSynthesizer({ program: '/nonexistent/espeak-ng' });
    await expect(synthesizer.speak('uno', 'es', NEVER)).rejects.toThrow(/nonexistent.*ENOENT/);
  });

  it('reports what the program complains about', async () => {
    const program = writeProgram('echo no such voice >&2; exit 1');
    const synthesizer = createEspeakSynthesizer({ program });
    await expect(synthesizer.speak('uno', 'es', NEVER)).rejects.toThrow(/ended with 1: no such voice/);
  });
});
