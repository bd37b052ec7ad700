/** Point 12: an option that is given twice is refused. */
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../src/cli/parse-flags.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { createTerminal } from './terminal.ts';

const OPTIONS = {
  config: { type: 'string' },
  require: { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const;

describe('an option that is given twice', () => {
  it('is refused, unless it may be repeated', () => {
    expect(parseFlags(['--config', 'a', '--config=b'], OPTIONS)).toBe(
      '--config is given more than once; give it once (--help lists the options)',
    );
    expect(parseFlags(['--require', 'a', '--require', 'b', '--json'], OPTIONS)).toMatchObject({
      values: { require: ['a', 'b'], json: true },
    });
  });

  it('is refused as --config of lingua serve', async () => {
    const io = createTerminal();
    expect(await runCommand(['serve', '--config', 'a.toml', '--config', 'b.toml'], io)).not.toBe(0);
    expect(io.errors.join(' ')).toContain('--config is given more than once');
  });
});
