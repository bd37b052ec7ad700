/** A session that is resumed elsewhere is let go by whoever has it, and by nobody under that one's name. */
import { describe, expect, it } from 'vitest';
import { createSessionRelease } from '../../../src/cluster/recovery/session-release.ts';
import { type PostedInstance, startPost } from '../messaging/message-bus-rig.ts';

async function start() {
  const post = startPost();
  const had = new Set(['session-1']);
  const letGo: string[] = [];
  const join = (instance: PostedInstance) =>
    createSessionRelease({
      bus: instance.bus,
      self: () => instance.driver,
      async letGo(sessionId) {
        letGo.push(`${sessionId} by ${instance.driver}`);
        return had.has(sessionId);
      },
    });
  const [owner, taker] = [await post.join('owner'), await post.join('taker')];
  join(owner);
  const release = join(taker);
  return {
    ...post,
    owner,
    taker,
    letGo,
    async release(of: string, sessionId = 'session-1') {
      const answer = release(of, sessionId);
      await post.clock.advance(1_000);
      return answer;
    },
  };
}

describe('a session that is resumed elsewhere', () => {
  it('is let go by its owner', async () => {
    const { owner, release, letGo } = await start();
    expect(await release(owner.driver)).toBe(true);
    expect(await release(owner.driver, 'session-2')).toBe(false);
    expect(letGo).toEqual([`session-1 by ${owner.driver}`, `session-2 by ${owner.driver}`]);
  });

  it('is not let go by a later life of its owner: what that one has is its own', async () => {
    const { release, letGo } = await start();
    expect(await release('owner/an-earlier-life')).toBe(false);
    expect(letGo).toEqual([]);
  });

  it('is not waited for longer than a second, nor if its owner is gone', async () => {
    const { owner, release, taker } = await start();
    taker.way.plan({ method: 'send', fault: 'throw' });
    expect(await release(owner.driver)).toBe(false);
    expect(await release('nobody/1')).toBe(false);
  });
});
