import { describe, expect, it } from 'vitest';
import { readOptions } from '../../src/cli/read-options.ts';

describe('the command line', () => {
  it('has defaults for everything', () => {
    const options = readOptions([], { LINGUA_TOKEN: 'secret' });
    expect(options).toMatchObject({
      action: 'run',
      url: 'ws://127.0.0.1:5010/ws/node',
      token: 'secret',
      stages: ['asr', 'semantic', 'nmt', 'tts'],
      isSpanishWanted: false,
    });
  });

  it('puts stages into their order', () => {
    expect(readOptions(['--stages', 'tts, nmt', '--slots', '3'], {})).toMatchObject({
      stages: ['nmt', 'tts'],
      slots: 3,
    });
  });

  it.each([
    [['--slots', '0'], /--slots is "0".*1 to 1000/],
    [['--workers', 'many'], /--workers is "many"/],
    [['--stages', 'asr,mt'], /"mt"; the stages are asr, semantic, nmt, tts/],
    [['--check', '--set-up'], /exclude each other/],
    [['--portt'], /--portt/],
  ])('%j is refused', (argv, problem) => {
    expect(readOptions(argv, {})).toMatch(problem);
  });
});
