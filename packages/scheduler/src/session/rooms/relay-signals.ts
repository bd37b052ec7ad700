/** Cold path: WebRTC signalling between two members of a room, perhaps on different instances. The scheduler does not read it. */
import type { SessionId } from '../../domain/ids.ts';
import { pairOf, type RoomRefusal } from '../../domain/room.ts';
import type { RoomDeps, RoomMessage } from './room-deps.ts';
import type { Signal } from './room-service.ts';
import { NOT_A_MEMBER } from './room-steps.ts';
import type { RoomTable } from './room-table.ts';

type SignalMessage = Extract<RoomMessage, { kind: 'signal' }>;

export function createSignals(deps: Pick<RoomDeps, 'self' | 'tell'> & { readonly table: RoomTable }) {
  const { table } = deps;

  /** From another instance, or to a member of this one. */
  function receive({ roomId, to, from, signal, body }: SignalMessage): void {
    const followed = table.followed(roomId);
    const member = followed?.local.members.get(to);
    if (followed === undefined || member === undefined) return;
    member.link.sendRoom({ kind: 'signal', code: followed.room().code, signal, from, body });
  }

  return {
    receive,
    async relay(
      sessionId: SessionId,
      code: string,
      { kind, to, body }: Signal,
    ): Promise<RoomRefusal | undefined> {
      const current = table.of(sessionId);
      if (current === undefined || current.followed.room().code !== code) return NOT_A_MEMBER;
      const room = current.followed.room();
      const from = room.members.find(({ memberId }) => memberId === sessionId);
      const receiver = room.members.find(({ memberId }) => memberId === to);
      if (from === undefined || receiver === undefined) return undefined;
      if (room.silentPairs.includes(pairOf(sessionId, to))) return undefined;
      // If both offered, both connections would fail.
      if (kind === 'offer' && from.joinNumber < receiver.joinNumber) return undefined;
      const { roomId } = room;
      const message = { kind: 'signal', roomId, to, from: sessionId, signal: kind, body } as const;
      if (receiver.follower === deps.self()) receive(message);
      else await deps.tell(receiver.follower, message);
      return undefined;
    },
  };
}
