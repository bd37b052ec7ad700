/** Who drives a job of which an instance has heard nothing: asked of the others directly, and never by message. */
import { describe, expect, it } from 'vitest';
import { createDriverCache } from '../../src/cluster/holder/driver-cache.ts';
import { createAskAround } from '../../src/cluster/messaging/ask-around.ts';
import type { DirectAnswer, DirectLine } from '../../src/ports/direct-line.ts';
import { isPending } from '../contracts/harness.ts';
import { type PostedInstance, startPost } from './post-rig.ts';

async function startAll(names: readonly string[], { isDirect = true } = {}) {
  const post = startPost();
  const all = new Map<string, Desk>();
  const state = { asked: [] as string[], instead: new Map<string, DirectAnswer | Promise<DirectAnswer>>() };
  const line: DirectLine = {
    async ask({ url }, text) {
      const name = url.replace('http://', '');
      state.asked.push(name);
      const answered = state.instead.get(name) ?? (await all.get(name)?.instance.bus.answer(text));
      if (typeof answered === 'string') return { kind: 'answered', text: answered };
      return answered ?? { kind: 'busy' };
    },
    close() {},
  };
  for (const name of names) {
    const instance = await post.join(name, isDirect ? { line } : {});
    all.set(name, withDesk(instance, post.clock));
  }
  return { ...post, state, desk: (name: string): Desk => all.get(name) as Desk };
}

function withDesk(instance: PostedInstance, clock: Parameters<typeof createDriverCache>[0]['clock']) {
  const driven = new Set<string>();
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  const askAround = createAskAround({
    bus: instance.bus,
    self: () => instance.self,
    living: instance.living,
    drives: (jobId) => driven.has(jobId),
    driver: () => instance.driver,
    driverCache,
  });
  return { instance, driven, driverCache, askAround };
}
type Desk = ReturnType<typeof withDesk>;

describe('who drives a job', () => {
  it('is said by whoever does, and noted: no message is written', async () => {
    const { desk, settle, state, sent } = await startAll(['me', 'you', 'them']);
    desk('them').driven.add('job-1');
    const asking = desk('me').askAround('job-1');
    await settle();
    expect(await asking).toBe('them/them-1');
    expect(desk('me').driverCache.find('job-1')).toBe('them/them-1');
    expect([state.asked.sort(), sent]).toEqual([['them', 'you'], []]);
  });

  it('is said by nobody of a job that is over, or that is being taken over', async () => {
    const { desk, settle } = await startAll(['me', 'you']);
    const asking = desk('me').askAround('job-1');
    await settle();
    expect(await asking).toBeUndefined();
    expect(desk('me').driverCache.size()).toBe(0);
  });

  it('does not wait for those who do not answer, if another does', async () => {
    const { desk, settle, state } = await startAll(['me', 'silent', 'them']);
    state.instead.set('silent', new Promise(() => {}));
    desk('them').driven.add('job-1');
    const asking = desk('me').askAround('job-1');
    await settle();
    expect(await asking).toBe('them/them-1');
  });

  it('is left to the store soon, if nobody answers', async () => {
    const { desk, clock, state, sent } = await startAll(['me', 'silent']);
    state.instead.set('silent', new Promise(() => {}));
    const asking = desk('me').askAround('job-1');
    await clock.advance(500);
    expect(await isPending(asking)).toBe(true);
    await clock.advance(500);
    expect([await asking, sent]).toEqual([undefined, []]);
  });

  it.each(['busy', 'unreached', 'unclear'] as const)(
    'is not asked by message of one that is %s',
    async (kind) => {
      const { desk, settle, state, sent } = await startAll(['me', 'you']);
      desk('you').driven.add('job-1');
      state.instead.set('you', { kind });
      const asking = desk('me').askAround('job-1');
      await settle();
      expect([await asking, sent]).toEqual([undefined, []]);
    },
  );

  it('is asked of nobody where nobody can be asked directly, nor of very many', async () => {
    const few = await startAll(['me', 'you'], { isDirect: false });
    few.desk('you').driven.add('job-1');
    const asking = few.desk('me').askAround('job-1');
    await few.settle();
    expect([await asking, few.sent]).toEqual([undefined, []]);
    const many = await startAll(['me', ...Array.from({ length: 9 }, (_, at) => `other-${at}`)]);
    expect(await many.desk('me').askAround('job-1')).toBeUndefined();
    expect(many.state.asked).toEqual([]);
  });
});
