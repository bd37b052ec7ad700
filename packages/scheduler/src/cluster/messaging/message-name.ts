/** How operators name a dead letter: whose it is and its place there, in one word. Pure. */
import { LETTER_ID } from '../../ports/dead-letters.ts';

export interface LetterName {
  /** Among whose dead letters it is. */
  readonly instanceId: string;
  readonly letterId: string;
}

export const printLetterName = ({ instanceId, letterId }: LetterName): string => `${instanceId}:${letterId}`;

/** Names of instances may have colons too: the last one parts them. */
export function readLetterName(text: string): LetterName | undefined {
  const at = text.lastIndexOf(':');
  const [instanceId, letterId] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && LETTER_ID.test(letterId) ? { instanceId, letterId } : undefined;
}
