/** Limits by count and by age, and what happens at them. */
import { describe, expect, it } from 'vitest';
import { createBoundedMap } from '../../src/domain/bounded-map.ts';

describe('a bounded map', () => {
  it('drops the entry that was set longest ago when it is full', () => {
    const left: string[] = [];
    const map = createBoundedMap<string, number>({ max: 2, onEvicted: (key) => left.push(key) });
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect([...map.entries()]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
    expect(left).toEqual(['b']);
  });

  it('drops entries by age, without another call to set', () => {
    let now = 1_000;
    const map = createBoundedMap<string, number>({ max: 9, maxAgeMs: 100, now: () => now });
    map.set('a', 1);
    now += 60;
    map.set('b', 2);
    now += 40;
    expect(map.get('a')).toBeUndefined();
    expect(map.has('b')).toBe(true);
    expect(map.size).toBe(1);
  });

  it('reports evicted entries only, not deleted ones', () => {
    const left: string[] = [];
    const map = createBoundedMap<string, number>({ max: 1, onEvicted: (key) => left.push(key) });
    map.set('a', 1);
    expect(map.delete('a')).toBe(true);
    expect(map.delete('a')).toBe(false);
    expect(left).toEqual([]);
  });
});
