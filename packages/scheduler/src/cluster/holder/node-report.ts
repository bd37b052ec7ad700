/** Hot path: what a node says of a job, as it travels from whoever hears it to whoever drives the job. */

import type { JobResult } from '../../domain/job-spec.ts';
import type { ReportedAttempt, ReportedFailure } from '../../domain/node-report.ts';
import { readMessage, type Shape } from '../messaging/read-message.ts';

export type NodeReport = { readonly answer: ReportedAttempt } & (
  | { readonly say: 'acknowledged' }
  | { readonly say: 'finished'; readonly result: JobResult }
  | { readonly say: 'failed'; readonly failure: ReportedFailure }
);

const ANSWER = { answer: { nodeId: 'string', jobId: 'string', attempt: 'number' }, say: 'string' } as const;
const NODE_REPORTS: Readonly<Record<NodeReport['say'], Shape>> = {
  acknowledged: ANSWER,
  finished: { ...ANSWER, result: { textAsr: 'string', textTranslated: 'string', ttsAudio: 'string' } },
  failed: { ...ANSWER, failure: { code: 'string', message: 'string' } },
};

export function readNodeReport(body: unknown): NodeReport {
  const { say } = readMessage<NodeReport>('answer', body, ANSWER);
  // A word of a later version is none of ours.
  if (!Object.hasOwn(NODE_REPORTS, say))
    throw new Error(`an answer that says ${say}, which nobody here understands`);
  return readMessage<NodeReport>('answer', body, NODE_REPORTS[say]);
}
