/** Messages about rooms between instances: durable, and in order for each room. */
import type { RoomId } from '../../domain/room.ts';
import type { MessageBus } from './message-bus.ts';

const TOPIC = 'room';

export interface RoomMessages<Message extends { readonly roomId: RoomId }> {
  /** A message to a dead instance is dropped: another one takes over its rooms. */
  tell(follower: string, message: Message): Promise<boolean>;
}

/** `follower`: "instance/incarnation". */
export function createRoomMessages<Message extends { readonly roomId: RoomId }>(deps: {
  readonly bus: Pick<MessageBus, 'send' | 'on'>;
  readonly receive: (message: Message) => Promise<void>;
}): RoomMessages<Message> {
  deps.bus.on(TOPIC, async (body) => deps.receive(body as Message));
  return {
    tell: (follower, message) =>
      deps.bus.send(follower.slice(0, follower.lastIndexOf('/')), {
        topic: TOPIC,
        lane: message.roomId,
        body: message,
      }),
  };
}
