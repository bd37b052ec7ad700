/** Contract of RoomFollowers: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { fresh, perTest } from './harness.ts';
import type { RoomLogHarness } from './room-log.ts';

export function roomFollowersContract(name: string, open: () => Promise<RoomLogHarness>): void {
  describe(`RoomFollowers: ${name}`, () => {
    const start = perTest(open);

    it('names the rooms that an instance follows, with the incarnation', async () => {
      const { followers } = await start();
      const [a, b, one, other] = [fresh('a'), fresh('b'), fresh('r'), fresh('r')];
      await followers.add(one, `${a}/1`);
      await followers.add(one, `${b}/1`);
      await followers.add(other, `${a}/2`);
      await followers.add(other, `${a}/2`);
      const rooms = await followers.roomsOf(a);
      expect(rooms).toHaveLength(2);
      expect(rooms).toEqual(
        expect.arrayContaining([
          { roomId: one, follower: `${a}/1` },
          { roomId: other, follower: `${a}/2` },
        ]),
      );
      await followers.remove(one, `${a}/1`);
      await followers.remove(one, `${a}/1`);
      expect(await followers.roomsOf(a)).toEqual([{ roomId: other, follower: `${a}/2` }]);
      expect(await followers.roomsOf(b)).toEqual([{ roomId: one, follower: `${b}/1` }]);
      expect(await followers.roomsOf(fresh('c'))).toEqual([]);
    });

    it('does not take one incarnation for another', async () => {
      const { followers, log } = await start();
      const [a, room] = [fresh('a'), fresh('r')];
      await followers.add(room, `${a}/1`);
      await followers.add(room, `${a}/2`);
      await followers.remove(room, `${a}/1`);
      expect(await followers.roomsOf(a)).toEqual([{ roomId: room, follower: `${a}/2` }]);
      await log.open(room);
      expect(await log.append(room, [])).toMatchObject({ followers: [`${a}/2`] });
    });
  });
}
