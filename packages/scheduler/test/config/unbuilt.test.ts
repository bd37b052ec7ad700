/** What this version does not do is refused at the start, not promised. */
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run-command.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { findUnbuilt } from '../../src/config/unbuilt.ts';

const load = (...pairs: string[]) => {
  const loaded = loadConfig({ flags: pairs.map((pair) => ['set', pair] as const) });
  if (loaded.kind === 'invalid') throw new Error('invalid');
  return loaded.config;
};

describe('what this version does not do', () => {
  it('is nothing of the defaults and of Redis, and pools when asked for', () => {
    expect(findUnbuilt(load())).toEqual([]);
    expect(findUnbuilt(load('scheduler.phase2.enabled=true'))).toEqual([]);
    expect(findUnbuilt(load('scheduler.phase3.enabled=true'))[0]).toContain('scheduler.phase3.enabled');
  });

  it('ends the start with 2 and says what to set', async () => {
    const err: string[] = [];
    const io = { out() {}, err: (line: string) => void err.push(line), interrupted: AbortSignal.abort() };
    const argv = ['serve', '--port', '0', '--set', 'scheduler.phase3.enabled=true'];
    expect(await runCommand(argv, io)).toBe(2);
    expect(err.join('\n')).toContain('set it to false');
  });
});
