/** Mutants that only several instances on a shared store give away. */
import type { Mutant, World } from '../mutant.ts';

const DEATHS: World = { faults: ['instance_killed', 'instance_frozen'] };
const STORE: World = {
  faults: ['shard_failed_over', 'shard_frozen', 'shard_lossy', 'store_down', 'store_emptied'],
};

export const TOGETHER_MUTANTS: readonly Mutant[] = [
  {
    name: 'takes jobs of the dead over and does not drive them',
    breaks: ['nothing lost', 'I3 one outcome'],
    file: 'cluster/adoption.ts',
    find: 'deps.adopt(taken.job);',
    replace: '',
    world: DEATHS,
  },
  {
    name: 'adopts without looking at the incarnation',
    breaks: ['I3 one outcome', 'I1 no oversell', 'nothing lost'],
    file: 'cluster/adoption.ts',
    find: 'const from = livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };',
    replace: 'const from = { instanceId };',
    world: DEATHS,
  },
  {
    name: 'handles a letter again that comes again',
    breaks: ['I4 fencing'],
    file: 'cluster/inbox-reader.ts',
    find: 'if (handled.has(letter.letterId)) confirmations.add(letter.letterId);\n      else lanes.add(letter);',
    replace: 'lanes.add(letter);',
    world: STORE,
  },
  {
    name: 'never takes itself for dead',
    breaks: ['I9 nothing to the dead', 'I1 no oversell', 'I3 one outcome', 'I4 fencing'],
    file: 'cluster/presence.ts',
    find: 'const isFenced = (): boolean => clock.now() - renewedAt > settings.ttlMs;',
    replace: 'const isFenced = (): boolean => false;',
    world: DEATHS,
  },
  {
    name: 'goes on as if nobody had adopted its jobs',
    breaks: ['I9 nothing to the dead', 'I1 no oversell', 'I3 one outcome', 'I4 fencing', 'nothing lost'],
    file: 'cluster/presence.ts',
    find: '    events.lost();\n',
    replace: '',
    world: DEATHS,
  },
  {
    name: 'tells a store nothing of what it has lost',
    breaks: ['I1 no oversell', 'I3 one outcome', 'nothing lost'],
    file: 'cluster/reassertion.ts',
    find: 'const done = tellAll(affected).catch(',
    replace: 'const done = Promise.resolve().catch(',
    world: STORE,
  },
  {
    name: 'writes to instances that are not there',
    breaks: ['I9 nothing to the dead'],
    file: 'cluster/post-office.ts',
    find: "if (!isThere) return refused('not_living');",
    replace: '',
    world: DEATHS,
  },
  {
    name: 'takes a reserve that did not answer for a slot',
    breaks: ['I1 no oversell'],
    file: 'runtime/placement.ts',
    find: 'if (!isUnsent(fault)) void giveBack(engine, nodeId, lease);\n        return false;',
    replace: 'return true;',
    world: STORE,
  },
];
