/** Cold path: a session that is resumed on another instance is asked for, and let go by the one that has it. */
import { instanceOf } from '../../domain/driver-name.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { PostOffice } from '../messaging/message-bus.ts';
import { readLetter } from '../messaging/read-message.ts';

interface ReleaseLetter {
  readonly sessionId: SessionId;
  readonly owner: string;
}

/** Whoever resumes does not wait for longer: what was saved last is good enough. */
const ANSWER_MS = 1_000;

export function createSessionRelease(deps: {
  office: Pick<PostOffice, 'ask' | 'on'>;
  /** "instance/incarnation" of this one. */
  self: () => string;
  /** True: it was here, and is saved as it is. */
  letGo: (sessionId: SessionId) => Promise<boolean>;
}): (owner: string, sessionId: SessionId) => Promise<boolean> {
  const { office } = deps;
  office.on('release_session', async (body) => {
    const { sessionId, owner } = readLetter<ReleaseLetter>('release_session', body, SHAPE);
    // A former life of this instance has nothing to let go any more, and cannot have saved it.
    return owner === deps.self() && deps.letGo(sessionId);
  });
  return async (owner, sessionId) => {
    const body: ReleaseLetter = { sessionId, owner };
    const letter = { topic: 'release_session', lane: sessionId, body };
    return (await office.ask(instanceOf(owner), letter, ANSWER_MS).catch(() => false)) === true;
  };
}

const SHAPE = { sessionId: 'string', owner: 'string' } as const;
