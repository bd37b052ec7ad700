/** The name of a dead letter for operators: its instance and its id in one text. Pure. */
import { MESSAGE_ID } from '../../ports/dead-letters.ts';

export interface MessageName {
  /** The instance that could not handle it. */
  readonly instanceId: string;
  readonly messageId: string;
}

export const printMessageName = ({ instanceId, messageId }: MessageName): string =>
  `${instanceId}:${messageId}`;

/** Instance names may contain colons, so the last colon is the separator. */
export function readMessageName(text: string): MessageName | undefined {
  const at = text.lastIndexOf(':');
  const [instanceId, messageId] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && MESSAGE_ID.test(messageId) ? { instanceId, messageId } : undefined;
}
