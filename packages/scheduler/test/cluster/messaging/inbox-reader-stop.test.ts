/** An inbox reader that stops, is fenced or is replaced while an answer of the store is outstanding. */
import { describe, expect, it } from 'vitest';
import { fine, SETTINGS, startReader } from './inbox-reader-rig.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('a late answer of Redis to the inbox reader', () => {
  it('with stuck messages after the stop is not handled', async () => {
    let failures = 1;
    const { clock, inbox, reader, seen, send } = await startReader(
      async () => {
        if (failures-- > 0) throw new Error('not now');
      },
      {
        wrap: (inner) => ({
          ...inner,
          async takeAgain(...args) {
            const found = await inner.takeAgain(...args);
            await new Promise<void>((resolve) => clock.after(1_000, resolve));
            return found;
          },
        }),
      },
    );
    await send('a:1');
    await clock.advance(SETTINGS.scanIntervalMs + 500);
    await reader.stop();
    await clock.advance(20_000);
    expect(seen).toEqual(['a:1']);
    expect((await inbox.size('me')).messages).toBe(1);
  });

  it('does not trigger the watchdog after the stop', async () => {
    const { clock, reader, stuck } = await startReader(fine, {
      wrap: (inner) => ({ ...inner, take: never }),
    });
    await reader.stop();
    await clock.advance(10 * SETTINGS.watchdogMs);
    expect(stuck()).toBe(0);
  });

  it('that is a fault after the stop is not logged', async () => {
    const held: ((fault: Error) => void)[] = [];
    const { clock, reader, warnings } = await startReader(fine, {
      wrap: (inner) => ({ ...inner, take: () => new Promise((_, reject) => held.push(reject)) }),
    });
    await reader.stop();
    held[0]?.(new Error('closed'));
    await clock.advance(5_000);
    expect(held).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it('to an abandoned read does not reset the watchdog', async () => {
    const held: (() => void)[] = [];
    const { clock, stuck } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        async take() {
          await new Promise<void>((resolve) => held.push(resolve));
          return [];
        },
      }),
    });
    await clock.advance(SETTINGS.watchdogMs);
    expect(stuck()).toBe(1);
    await clock.advance(SETTINGS.watchdogMs - 500);
    held[0]?.();
    await clock.advance(500);
    expect(stuck()).toBe(2);
  });

  it('does not reopen the inbox of a fenced instance', async () => {
    let isFenced = false;
    let opened = 0;
    const { clock } = await startReader(fine, {
      isFenced: () => isFenced,
      wrap: (inner) => ({
        ...inner,
        async take() {
          isFenced = true;
          return [];
        },
        async open(instanceId) {
          opened += 1;
          await inner.open(instanceId);
        },
      }),
    });
    await clock.advance(10_000);
    expect(opened).toBe(0);
  });
});
