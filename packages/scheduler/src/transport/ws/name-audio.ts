/** Names the audio of a refused message, so that the client can give it up: its fields may be invalid themselves. Pure. */
import { ID_PATTERN } from '@lingua/protocol';
import type { ErrorDetails } from './error-message.ts';

const ID = new RegExp(ID_PATTERN);

/** Undefined: the message carries no audio. */
export function nameAudio(
  type: string | undefined,
  fields: Readonly<Record<string, unknown>>,
): ErrorDetails | undefined {
  if (type !== 'utterance' && type !== 'audio_chunk') return undefined;
  const { request_id: requestId, utterance_index: index, seq } = fields;
  return {
    ...(typeof requestId === 'string' && ID.test(requestId) && { request_id: requestId }),
    ...(type === 'utterance' && isCount(index) && { utterance_index: index }),
    ...(type === 'audio_chunk' && isCount(seq) && { first_seq: seq, last_seq: seq }),
  };
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
