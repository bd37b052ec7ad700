/** Instances that were declared dead are remembered until they are seen alive. Their number is bounded. */
import { expect, it } from 'vitest';
import { createDeadInstances } from '../../../src/cluster/membership/last-known-instances.ts';

it('remembers dead instances after the takeover, until they are seen alive', () => {
  const deadInstances = createDeadInstances();
  deadInstances.died(['a', 'b']);
  deadInstances.died([]);
  expect(['a', 'b', 'c'].map(deadInstances.has)).toEqual([true, true, false]);
  deadInstances.seen(new Map([['a', {}]]));
  expect(['a', 'b'].map(deadInstances.has)).toEqual([false, true]);
});

it('I11 bounded: forgets the instance that died first at the limit', () => {
  const deadInstances = createDeadInstances();
  for (let count = 0; count <= 1_000; count += 1) deadInstances.died([`i${count}`]);
  expect([deadInstances.has('i0'), deadInstances.has('i1'), deadInstances.has('i1000')]).toEqual([
    false,
    true,
    true,
  ]);
});
