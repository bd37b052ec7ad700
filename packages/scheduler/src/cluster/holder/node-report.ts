/** Hot path: what a node says of a job, as it travels from whoever hears it to whoever drives the job. */
import type { Answer, ReportedFailure } from '../../domain/answer.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import { readLetter, type Shape } from '../messaging/read-message.ts';

export type Saying = { readonly answer: Answer } & (
  | { readonly say: 'acknowledged' }
  | { readonly say: 'finished'; readonly result: JobResult }
  | { readonly say: 'failed'; readonly failure: ReportedFailure }
);

const ANSWER = { answer: { nodeId: 'string', jobId: 'string', attempt: 'number' }, say: 'string' } as const;
const SAYINGS: Readonly<Record<Saying['say'], Shape>> = {
  acknowledged: ANSWER,
  finished: { ...ANSWER, result: { textAsr: 'string', textTranslated: 'string', ttsAudio: 'string' } },
  failed: { ...ANSWER, failure: { code: 'string', message: 'string' } },
};

export function readSaying(body: unknown): Saying {
  const { say } = readLetter<Saying>('answer', body, ANSWER);
  // A word of a later version is none of ours.
  if (!Object.hasOwn(SAYINGS, say))
    throw new Error(`an answer that says ${say}, which nobody here understands`);
  return readLetter<Saying>('answer', body, SAYINGS[say]);
}
