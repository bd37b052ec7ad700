/** Hot path: what makes two requests the same. Pure. */
import type { GivenUtterance } from '../event.ts';
import type { Step } from '../step-context.ts';

/** Of a request that was cut several times: each part by its first chunk. */
export const bindingName = (requestId: string, firstSeq: number): string => `${requestId}:${firstSeq}`;

/** What was said, and in which languages: two clients of a tenant may name their requests alike. */
export function fingerprintOf(
  { ids }: Pick<Step, 'ids'>,
  { speech, audio, source }: Pick<GivenUtterance, 'speech' | 'audio' | 'source'>,
): string {
  const { source: from, target, a, b } = speech.languages;
  const sound = audio === undefined ? source : ids.digest(audio);
  return ids.digest(JSON.stringify([from, target, a, b, speech.audioFormat, sound]));
}
