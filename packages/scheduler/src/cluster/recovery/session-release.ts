/** Cold path: a session that is resumed on another instance is asked for, and let go by the one that has it. */
import { instanceOf } from '../../domain/driver-name.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';

interface ReleaseMessage {
  readonly sessionId: SessionId;
  readonly owner: string;
}

/** Whoever resumes does not wait for longer: what was saved last is good enough. */
const ANSWER_MS = 1_000;

export function createSessionRelease(deps: {
  bus: Pick<MessageBus, 'ask' | 'on'>;
  /** "instance/incarnation" of this one. */
  self: () => string;
  /** True: it was here, and is saved as it is. */
  letGo: (sessionId: SessionId) => Promise<boolean>;
}): (owner: string, sessionId: SessionId) => Promise<boolean> {
  const { bus } = deps;
  bus.on('release_session', async (body) => {
    const { sessionId, owner } = readMessage<ReleaseMessage>('release_session', body, SHAPE);
    // A former life of this instance has nothing to let go any more, and cannot have saved it.
    return owner === deps.self() && deps.letGo(sessionId);
  });
  return async (owner, sessionId) => {
    const body: ReleaseMessage = { sessionId, owner };
    const message = { topic: 'release_session', lane: sessionId, body };
    return (await bus.ask(instanceOf(owner), message, ANSWER_MS).catch(() => false)) === true;
  };
}

const SHAPE = { sessionId: 'string', owner: 'string' } as const;
