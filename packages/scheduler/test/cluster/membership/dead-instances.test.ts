/** Who was declared dead is remembered until it is seen alive, and not without bound. */
import { expect, it } from 'vitest';
import { createDeadInstances } from '../../../src/cluster/membership/dead-instances.ts';

it('remembers the dead after they were adopted, until they are seen alive', () => {
  const deadInstances = createDeadInstances();
  deadInstances.died(['a', 'b']);
  deadInstances.died([]);
  expect(['a', 'b', 'c'].map(deadInstances.has)).toEqual([true, true, false]);
  deadInstances.seen(new Map([['a', {}]]));
  expect(['a', 'b'].map(deadInstances.has)).toEqual([false, true]);
});

it('forgets those that died first when there are too many', () => {
  const deadInstances = createDeadInstances();
  for (let count = 0; count <= 1_000; count += 1) deadInstances.died([`i${count}`]);
  expect([deadInstances.has('i0'), deadInstances.has('i1'), deadInstances.has('i1000')]).toEqual([
    false,
    true,
    true,
  ]);
});
