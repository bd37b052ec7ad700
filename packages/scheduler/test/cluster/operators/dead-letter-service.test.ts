/** Dead letters of all instances: one list, replayed to their receivers, purged with bounds. */
import { describe, expect, it } from 'vitest';
import type { MessageName } from '../../../src/cluster/messaging/message-name.ts';
import {
  createDeadLetterService,
  NO_DEAD_LETTERS,
} from '../../../src/cluster/recovery/dead-letter-service.ts';
import { faulty } from '../../support/faulty.ts';
import { createInstancesInMemory } from '../../support/instances-in-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';

async function start({ maxMessages }: { maxMessages?: number } = {}) {
  const clock = createManualClock();
  const world = createInstancesInMemory({ clock, ...(maxMessages !== undefined && { maxMessages }) });
  const state = { isFenced: false };
  const deadLetters = faulty(world.deadLetters, [], clock);
  const inbox = faulty(world.inbox, [], clock);
  await world.join('self');
  const service = createDeadLetterService({
    ...world,
    deadLetters: deadLetters.port,
    inbox: inbox.port,
    clock,
    self: () => ({ instanceId: 'self' }),
    isFenced: () => state.isFenced,
    isKnown: async (jobId) => jobId.startsWith('kept'),
    answerMs: 500,
  });
  const heads = async () =>
    (await service.list({ limit: 100 })).letters.map(({ instanceId, head }) => `${instanceId} ${head}`);
  const nameOf = async (wanted: string): Promise<MessageName> => {
    const found = (await service.list({ limit: 100 })).letters.find(({ head }) => head === wanted);
    if (found === undefined) throw new Error(`no letter ${wanted}`);
    return found;
  };
  return { ...world, clock, state, service, heads, nameOf, faultyLetters: deadLetters, faultyInbox: inbox };
}

describe('the dead letters about erased jobs', () => {
  it('are removed, with those about jobs without a record, and only the first are counted', async () => {
    const { join, die, service, heads } = await start();
    await join('a');
    const about = (jobId: string) => JSON.stringify({ topic: 'report', body: { jobId } });
    await die('a', about('kept-1'), about('erased'), about('gone'), '{"topic":"hello"}', about('gone'));
    await die('self', about('kept-2'), about('gone'));
    expect(await service.removeAbout(new Set(['erased']))).toEqual({ removed: 1, unreachable: [] });
    expect(await heads()).toEqual(['a {"topic":"hello"}', `a ${about('kept-1')}`, `self ${about('kept-2')}`]);
  });
});

describe('the list of dead letters', () => {
  it('has those of all instances by name, newest first', async () => {
    const { join, die, goForGood, heads } = await start();
    await join('a');
    const gone = await join('gone');
    await die('gone', 'left');
    await goForGood(gone);
    await die('self', 'own');
    await die('a', 'first', 'second');
    expect(await heads()).toEqual(['a second', 'a first', 'gone left', 'self own']);
  });

  it('is the same with pages of any size', async () => {
    const { join, die, service, heads } = await start();
    for (const name of ['a', 'b', 'c', 'd']) await join(name);
    await die('a', '1', '2', '3');
    await die('c', '4');
    await die('d', '5', '6');
    const whole = await heads();
    expect(whole).toHaveLength(6);
    for (const limit of [1, 2, 3, 4, 6]) {
      const found: string[] = [];
      let pages = 0;
      for (let cursor: MessageName | undefined, isLast = false; !isLast; pages += 1) {
        const page = await service.list({ limit, cursor });
        found.push(...page.letters.map(({ instanceId, head }) => `${instanceId} ${head}`));
        cursor = page.cursor;
        isLast = cursor === undefined;
      }
      expect(found).toEqual(whole);
      expect(pages).toBe(Math.ceil(6 / limit));
    }
  });

  it('continues with the next instance if the cursor’s one is empty', async () => {
    const { join, die, service, deadLetters } = await start();
    for (const name of ['a', 'b']) await join(name);
    await die('a', '1', '2');
    await die('b', '3');
    const { cursor } = await service.list({ limit: 1 });
    await deadLetters.purge('a', { max: 10 });
    expect(await service.list({ limit: 5, cursor })).toMatchObject({ letters: [{ head: '3' }] });
  });

  it('has the letters of a returned instance once', async () => {
    const { join, die, goForGood, heads } = await start();
    const gone = await join('back');
    await die('back', 'x');
    await goForGood(gone);
    await join('back', { incarnation: 'back-2' });
    expect(await heads()).toEqual(['back x']);
  });

  it('reads only instances with dead letters, until the page is full', async () => {
    const { join, die, service, faultyLetters } = await start();
    for (const name of ['a', 'b', 'c']) await join(name);
    await die('b', '1');
    await die('c', '2');
    expect((await service.list({ limit: 1 })).cursor).toMatchObject({ instanceId: 'b' });
    expect(faultyLetters.calls('list')).toBe(1);
  });

  it('can be of one instance, also of an unknown one', async () => {
    const { join, die, service } = await start();
    await join('a');
    await die('a', 'x');
    await die('self', 'y');
    expect(await service.list({ limit: 5, instanceId: 'a' })).toMatchObject({ letters: [{ head: 'x' }] });
    expect(await service.list({ limit: 5, instanceId: 'nobody' })).toEqual({ letters: [], unreachable: [] });
  });

  it('names the instances that did not answer in time', async () => {
    const { join, die, service, clock, faultyInbox, faultyLetters } = await start();
    for (const name of ['a', 'b']) await join(name);
    for (const name of ['a', 'b', 'self']) await die(name, `of ${name}`);
    faultyInbox.plan({ method: 'size', at: [1], fault: { delayMs: 60_000 } });
    faultyLetters.plan({ method: 'list', at: [1], fault: 'throw' });
    const listing = service.list({ limit: 5 });
    await clock.advance(500);
    expect(await listing).toMatchObject({ letters: [{ head: 'of self' }], unreachable: ['a', 'b'] });
  });
});

describe('a replay of a dead letter', () => {
  it('goes to the instance that should have received it', async () => {
    const { join, die, service, nameOf, arrived, heads, lines } = await start();
    await join('a');
    await die('a', 'said in confidence');
    expect(await service.replay(await nameOf('said in confidence'))).toEqual({ kind: 'replayed', to: 'a' });
    expect(await arrived('a')).toEqual(['said in confidence']);
    expect(await arrived('self')).toEqual([]);
    expect(await heads()).toEqual([]);
    expect(lines.join()).toContain('replayed a dead letter');
    expect(lines.join()).not.toContain('confidence');
  });

  it('goes to this instance if the receiver is gone or dead', async () => {
    const { join, die, service, nameOf, arrived, goForGood, instances, inbox } = await start();
    const [gone, dead] = [await join('gone'), await join('dead')];
    await join('closed');
    await die('gone', '1');
    await die('dead', '2');
    await die('closed', '3');
    await goForGood(gone);
    await instances.leave(dead);
    await inbox.close('closed');
    for (const body of ['1', '2', '3'])
      expect(await service.replay(await nameOf(body))).toEqual({ kind: 'replayed', to: 'self' });
    expect(await arrived('self')).toEqual(['1', '2', '3']);
    expect(await arrived('dead')).toEqual([]);
  });

  it('leaves the letter in place when the inbox is full', async () => {
    const { join, die, service, nameOf, heads, inbox } = await start({ maxMessages: 1 });
    await join('a');
    await die('a', 'x');
    await inbox.send('a', 'fills it');
    expect(await service.replay(await nameOf('x'))).toEqual({ kind: 'full', to: 'a' });
    expect(await heads()).toEqual(['a x']);
  });

  it('of a letter that is gone changes nothing', async () => {
    const { die, service, nameOf, arrived } = await start();
    await die('self', 'x');
    const name = await nameOf('x');
    await service.replay(name);
    expect(await service.replay(name)).toEqual({ kind: 'absent' });
    expect(await service.replay({ instanceId: 'nobody', messageId: '1-1' })).toEqual({ kind: 'absent' });
    expect(await arrived('self')).toEqual(['x']);
  });

  it('can be repeated after an unknown result', async () => {
    const { die, service, nameOf, arrived, faultyLetters } = await start();
    await die('self', 'x');
    const name = await nameOf('x');
    faultyLetters.plan({ method: 'replay', at: [1], fault: 'throw_after_effect' });
    await expect(service.replay(name)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(await service.replay(name)).toEqual({ kind: 'absent' });
    expect(await arrived('self')).toEqual(['x']);
  });

  it('rejects when no inbox is open', async () => {
    const { die, service, nameOf, inbox, heads } = await start();
    await die('self', 'x');
    const name = await nameOf('x');
    await inbox.close('self');
    await expect(service.replay(name)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(await heads()).toEqual(['self x']);
  });
});

describe('a purge of dead letters', () => {
  it('removes those of one instance, of an age, both, or all', async () => {
    const { join, die, service, clock, heads } = await start();
    for (const name of ['a', 'b']) await join(name);
    await die('a', 'old a');
    await die('b', 'old b');
    await clock.advance(10_000);
    await die('a', 'new a');
    await die('b', 'new b');
    await clock.advance(1_000);
    const done = { isDone: true, unreachable: [] };
    expect(await service.purge({ instanceId: 'a', olderThanMs: 5_000 })).toEqual({ purged: 1, ...done });
    expect(await heads()).toEqual(['a new a', 'b new b', 'b old b']);
    expect(await service.purge({ olderThanMs: 5_000 })).toEqual({ purged: 1, ...done });
    expect(await service.purge({ instanceId: 'b' })).toEqual({ purged: 1, ...done });
    expect(await heads()).toEqual(['a new a']);
    expect(await service.purge({})).toEqual({ purged: 1, ...done });
    expect(await heads()).toEqual([]);
  });

  it('I11 bounded: removes 5000 and reports that more are left', async () => {
    const { join, die, service } = await start();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) {
      await join(name);
      await die(name, ...Array.from({ length: 1_000 }, () => 'x'));
    }
    expect(await service.purge({})).toEqual({ purged: 5_000, isDone: false, unreachable: [] });
    expect(await service.purge({})).toEqual({ purged: 1_000, isDone: true, unreachable: [] });
  });

  it('is done if the last letter is also the last allowed one', async () => {
    const { join, die, service } = await start();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await join(name);
      await die(name, ...Array.from({ length: 1_000 }, () => 'x'));
    }
    expect(await service.purge({})).toEqual({ purged: 5_000, isDone: true, unreachable: [] });
  });

  it('continues after a failed instance and names it', async () => {
    const { join, die, service, faultyLetters, heads } = await start();
    await join('a');
    await die('a', 'x');
    await die('self', 'y');
    faultyLetters.plan({ method: 'purge', at: [1], fault: 'throw' });
    expect(await service.purge({})).toEqual({ purged: 1, isDone: true, unreachable: ['a'] });
    expect(await heads()).toEqual(['a x']);
  });
});

it('a fenced instance replays and purges nothing', async () => {
  const { die, service, nameOf, state, heads } = await start();
  await die('self', 'x');
  const name = await nameOf('x');
  state.isFenced = true;
  await expect(service.replay(name)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  await expect(service.purge({})).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  expect(await heads()).toEqual(['self x']);
});

it('a single instance has no dead letters', async () => {
  const name = { instanceId: 'a', messageId: '1-1' };
  expect(await NO_DEAD_LETTERS.list({ limit: 1 })).toEqual({ letters: [], unreachable: [] });
  expect(await NO_DEAD_LETTERS.get(name)).toBeUndefined();
  expect(await NO_DEAD_LETTERS.replay(name)).toEqual({ kind: 'absent' });
  expect(await NO_DEAD_LETTERS.purge({})).toEqual({ purged: 0, isDone: true, unreachable: [] });
});
