/** Who was declared dead is remembered until it is seen alive, and not without bound. */
import { expect, it } from 'vitest';
import { createGraveyard } from '../../src/cluster/membership/dead-instances.ts';

it('remembers the dead after they were adopted, until they are seen alive', () => {
  const graveyard = createGraveyard();
  graveyard.died(['a', 'b']);
  graveyard.died([]);
  expect(['a', 'b', 'c'].map(graveyard.has)).toEqual([true, true, false]);
  graveyard.seen(new Map([['a', {}]]));
  expect(['a', 'b'].map(graveyard.has)).toEqual([false, true]);
});

it('forgets those that died first when there are too many', () => {
  const graveyard = createGraveyard();
  for (let count = 0; count <= 1_000; count += 1) graveyard.died([`i${count}`]);
  expect([graveyard.has('i0'), graveyard.has('i1'), graveyard.has('i1000')]).toEqual([false, true, true]);
});
