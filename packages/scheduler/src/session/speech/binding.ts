/** Hot path: identifies repeated requests. Pure. */
import type { GivenUtterance } from '../event.ts';
import type { Step } from '../step-context.ts';

/** A request may be cut into several utterances: the first chunk identifies each part. */
export const bindingName = (requestId: string, firstSeq: number): string => `${requestId}:${firstSeq}`;

/** Digest of audio and languages: two clients of a tenant may use the same request id. */
export function fingerprintOf(
  { ids }: Pick<Step, 'ids'>,
  { speech, audio, source }: Pick<GivenUtterance, 'speech' | 'audio' | 'source'>,
): string {
  const { source: from, target, a, b } = speech.languages;
  const content = audio === undefined ? source : ids.digest(audio);
  return ids.digest(JSON.stringify([from, target, a, b, speech.audioFormat, content]));
}
