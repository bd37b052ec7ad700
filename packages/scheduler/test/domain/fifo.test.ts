/** The order in which an instance drops what it has counted. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFifo } from '../../src/domain/fifo.ts';

it('returns the first remaining entry, as an ordered map does', () => {
  const step = fc.tuple(fc.constantFrom('add', 'delete', 'drop first'), fc.integer({ min: 0, max: 30 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const [fifo, model] = [createFifo<number>(), new Map<string, number>()];
      for (const [act, number] of steps) {
        const name = act === 'drop first' ? (fifo.first()?.[0] ?? '') : `name-${number}`;
        if (act === 'add') {
          fifo.add(name, number);
          if (!model.has(name)) model.set(name, number);
        } else {
          expect(fifo.delete(name)).toBe(model.get(name));
          model.delete(name);
        }
        expect(fifo.first()).toEqual(model.entries().next().value);
        expect(fifo.size()).toBe(model.size);
      }
    }),
  );
});

it('skips no entry when removed ones are cleared', () => {
  const fifo = createFifo<number>();
  for (let at = 0; at < 5_000; at += 1) fifo.add(`name-${at}`, at);
  for (let at = 0; at < 5_000; at += 1) {
    expect(fifo.first()?.[1]).toBe(at);
    fifo.delete(`name-${at}`);
  }
  expect(fifo.first()).toBeUndefined();
});
