/** How operators name a dead letter: whose it is and its place there, in one word. Pure. */
import { MESSAGE_ID } from '../../ports/dead-letters.ts';

export interface MessageName {
  /** Among whose dead letters it is. */
  readonly instanceId: string;
  readonly messageId: string;
}

export const printMessageName = ({ instanceId, messageId }: MessageName): string =>
  `${instanceId}:${messageId}`;

/** Names of instances may have colons too: the last one parts them. */
export function readMessageName(text: string): MessageName | undefined {
  const at = text.lastIndexOf(':');
  const [instanceId, messageId] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && MESSAGE_ID.test(messageId) ? { instanceId, messageId } : undefined;
}
