/** The reload signal never ends the process: it is handled from the start to the end. */
import { describe, expect, it } from 'vitest';
import { runApp } from '../../src/cli/run-app.ts';
import { configOf } from '../e2e/support/start-app.ts';

const CONFIG = configOf({ 'log.level': 'silent', 'server.host': '127.0.0.1' });

function run({ isSignalledEarly = false } = {}) {
  const interrupt = new AbortController();
  let isHeard = false;
  let reads = 0;
  const heard: boolean[] = [];
  const ended = runApp(
    CONFIG,
    {
      out() {},
      err() {},
      interrupted: interrupt.signal,
      onReload(listen) {
        isHeard = true;
        if (isSignalledEarly) listen();
        return () => {
          isHeard = false;
        };
      },
    },
    {
      origins: new Map(),
      reread: async () => {
        reads += 1;
        return { kind: 'ok', config: CONFIG, origins: new Map(), warnings: [] };
      },
      meanwhile: async () => {
        interrupt.abort();
        return async () => void heard.push(isHeard);
      },
    },
  );
  return { ended, heard, isHeard: () => isHeard, reads: () => reads };
}

describe('the reload signal', () => {
  it('is accepted until the scheduler has drained and stopped', async () => {
    const { ended, heard, isHeard } = run();
    expect(await ended).toBe(0);
    expect({ heard, isHeard: isHeard() }).toEqual({ heard: [true], isHeard: false });
  });

  it('during the start is applied after the start', async () => {
    const { ended, reads } = run({ isSignalledEarly: true });
    expect(await ended).toBe(0);
    expect(reads()).toBe(1);
  });
});
