/** A session that resumes on another instance is released by the incarnation that holds it. */
import { describe, expect, it } from 'vitest';
import { createSessionRelease } from '../../../src/cluster/recovery/session-release.ts';
import { type MessagingInstance, startMessaging } from '../messaging/message-bus-rig.ts';

async function start() {
  const messaging = startMessaging();
  const had = new Set(['session-1']);
  const released: string[] = [];
  const join = (instance: MessagingInstance) =>
    createSessionRelease({
      bus: instance.bus,
      self: () => instance.driver,
      async release(sessionId) {
        released.push(`${sessionId} by ${instance.driver}`);
        return had.has(sessionId);
      },
    });
  const [owner, taker] = [await messaging.join('owner'), await messaging.join('taker')];
  join(owner);
  const release = join(taker);
  return {
    ...messaging,
    owner,
    taker,
    released,
    async release(of: string, sessionId = 'session-1') {
      const answer = release(of, sessionId);
      await messaging.clock.advance(1_000);
      return answer;
    },
  };
}

describe('a session that resumes on another instance', () => {
  it('is released by its holder', async () => {
    const { owner, release, released } = await start();
    expect(await release(owner.driver)).toBe(true);
    expect(await release(owner.driver, 'session-2')).toBe(false);
    expect(released).toEqual([`session-1 by ${owner.driver}`, `session-2 by ${owner.driver}`]);
  });

  it('is not released by a later incarnation of its holder', async () => {
    const { release, released } = await start();
    expect(await release('owner/an-earlier-life')).toBe(false);
    expect(released).toEqual([]);
  });

  it('waits one second at most for its holder', async () => {
    const { owner, release, taker } = await start();
    taker.connection.plan({ method: 'send', fault: 'throw' });
    expect(await release(owner.driver)).toBe(false);
    expect(await release('nobody/1')).toBe(false);
  });
});
