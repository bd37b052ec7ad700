/** Cold path: a session that resumes on another instance is released by the instance that holds it. */
import { instanceOf, type SessionId } from '../../domain/ids.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';

interface ReleaseMessage {
  readonly sessionId: SessionId;
  readonly owner: string;
}

/** Then the session resumes from its last saved state. */
const ANSWER_MS = 1_000;

export function createSessionRelease(deps: {
  bus: Pick<MessageBus, 'request' | 'on'>;
  /** "instance/incarnation" of this one. */
  self: () => string;
  /** True: the session was here, and its state is saved. */
  release: (sessionId: SessionId) => Promise<boolean>;
}): (owner: string, sessionId: SessionId) => Promise<boolean> {
  const { bus } = deps;
  bus.on('release_session', async (body) => {
    const { sessionId, owner } = readMessage<ReleaseMessage>('release_session', body, SHAPE);
    // A new incarnation does not have the sessions of the previous one.
    return owner === deps.self() && deps.release(sessionId);
  });
  return async (owner, sessionId) => {
    const body: ReleaseMessage = { sessionId, owner };
    const message = { topic: 'release_session', lane: sessionId, body };
    return (await bus.request(instanceOf(owner), message, ANSWER_MS).catch(() => false)) === true;
  };
}

const SHAPE = { sessionId: 'string', owner: 'string' } as const;
