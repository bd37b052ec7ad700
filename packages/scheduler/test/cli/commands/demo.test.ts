/** What `lingua demo` leaves out of its log, so that the lines to try stay on the screen. */
import { describe, expect, it } from 'vitest';
import { quiet } from '../../../src/cli/commands/demo.ts';
import { loaded } from '../../config/loaded.ts';

function shown(...settings: string[]) {
  const { config, origins } = loaded({ flags: settings.map((pair) => ['set', pair] as const) });
  const { log, scheduler } = quiet(config, origins);
  const { lock_wait_warn_ms: waits, path_warn_ms: paths } = scheduler.observability;
  return { level: log.level, waits, paths };
}

describe('the demo', () => {
  it('prints neither the work of its nodes nor warnings about a busy machine', () => {
    expect(shown()).toEqual({ level: 'warn', waits: 0, paths: 0 });
  });

  it('prints what was requested', () => {
    const key = 'scheduler.observability';
    expect(shown(`${key}.lock_wait_warn_ms=7`)).toEqual({ level: 'warn', waits: 7, paths: 0 });
    expect(shown(`${key}.path_warn_ms=70`)).toEqual({ level: 'warn', waits: 0, paths: 70 });
    expect(shown('log.level=info')).toEqual({ level: 'info', waits: 10, paths: 50 });
  });
});
