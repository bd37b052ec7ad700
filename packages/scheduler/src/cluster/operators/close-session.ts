/** Cold path: closes a session on the instance that has it, wherever the operator's request arrived. */
import type { SessionId } from '../../domain/ids.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { AskInstances } from './ask-instances.ts';

/** `unknown`: an instance that may have it did not answer. */
export type SessionClosing =
  | { readonly kind: 'closing'; readonly instanceId: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly unreachable: readonly string[] };

export type CloseSession = (sessionId: SessionId) => Promise<SessionClosing>;

export function createCloseSession(deps: {
  bus: Pick<MessageBus, 'on'>;
  ask: AskInstances;
  self: () => { readonly instanceId: string };
  /** False: the session is not on this instance. */
  close: (sessionId: SessionId) => boolean;
}): CloseSession {
  // A second delivery finds the session closing or gone, and changes nothing.
  deps.bus.on('close_session', async (body) =>
    deps.close(readMessage<{ sessionId: SessionId }>('close_session', body, SHAPE).sessionId),
  );
  return async (sessionId) => {
    if (deps.close(sessionId)) return { kind: 'closing', instanceId: deps.self().instanceId };
    const { answers, unreachable } = await deps.ask('close_session', sessionId, { sessionId });
    for (const [instanceId, isClosing] of answers)
      if (isClosing === true) return { kind: 'closing', instanceId };
    return unreachable.length > 0 ? { kind: 'unknown', unreachable } : { kind: 'absent' };
  };
}

const SHAPE = { sessionId: 'string' } as const;
