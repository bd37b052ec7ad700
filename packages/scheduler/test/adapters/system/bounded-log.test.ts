/** The bound on log lines, and the instance in each of them. */
import { describe, expect, it } from 'vitest';
import { createBoundedLog } from '../../../src/adapters/system/bounded-log.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function open() {
  const clock = createManualClock();
  const texts: string[] = [];
  const destination = { write: (line: string) => void texts.push(line) };
  const log = createBoundedLog(createLog('debug', { instanceId: 'east-1', destination }), { clock });
  const lines = () => texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  return { clock, log, lines };
}

describe('a log that is bounded per second', () => {
  it('writes 20 lines of a message, then the number of those left out', async () => {
    const { clock, log, lines } = open();
    for (let at = 0; at < 100; at += 1) log.info({ at }, 'a job is to be retried');
    log.warn({}, 'another message');
    expect(lines()).toHaveLength(21);
    await clock.advance(1_000);
    expect(lines().at(-1)).toMatchObject({
      level: 'info',
      msg: 'a job is to be retried',
      left_out: 80,
    });
    log.info({ at: 100 }, 'a job is to be retried');
    expect(lines().at(-1)).toMatchObject({ at: 100 });
    await clock.advance(10_000);
    expect(lines()).toHaveLength(23);
  });

  it('is not bounded at debug, which is switched on to see every line', () => {
    const { log, lines } = open();
    for (let at = 0; at < 100; at += 1) log.debug({ at }, 'request answered');
    expect(lines()).toHaveLength(100);
  });

  it('names its instance in every line', async () => {
    const { clock, log, lines } = open();
    for (let at = 0; at < 30; at += 1) log.error({ at }, 'a timer failed');
    log.debug({}, 'request answered');
    await clock.advance(1_000);
    expect(new Set(lines().map((line) => line.instance_id))).toEqual(new Set(['east-1']));
  });
});
