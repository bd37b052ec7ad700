/** Why the text of a caption is not a translation. */
import { tOr } from '../texts/text.ts';
import type { Rendition } from './caption-log.ts';
import { tRoom } from './room-text.ts';

export function RenditionNote({ isFinal, errorCode }: Pick<Rendition, 'isFinal' | 'errorCode'>) {
  if (!isFinal) return <span class="quiet"> · {tRoom('room.pending')}</span>;
  if (errorCode === undefined) return null;
  const reason = tOr(`error.${errorCode}`, errorCode);
  return <span class="quiet"> · {tRoom('room.not_translated', { reason })}</span>;
}
