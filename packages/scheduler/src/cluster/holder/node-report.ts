/** Hot path: a report about an attempt, as a message from the instance that received it from the node to the driver of the job. */

import type { JobResult } from '../../domain/job-spec.ts';
import type { EarlyText, HandOver, ReportedAttempt, ReportedFailure } from '../../domain/node-report.ts';
import { readMessage, type Shape } from '../messaging/read-message.ts';

/** `dispatched` and `undeliverable` are the holder's reports about the hand-over; the others are the node's. */
export type NodeReport = { readonly attempt: ReportedAttempt } & (
  | { readonly kind: 'dispatched'; readonly handOver: HandOver }
  | { readonly kind: 'undeliverable'; readonly reason: string }
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'text'; readonly text: EarlyText }
  | { readonly kind: 'finished'; readonly result: JobResult }
  | { readonly kind: 'failed'; readonly failure: ReportedFailure }
);

const REPORT = {
  attempt: { nodeId: 'string', jobId: 'string', attempt: 'number' },
  kind: 'string',
} as const;
const NODE_REPORTS: Readonly<Record<NodeReport['kind'], Shape>> = {
  dispatched: { ...REPORT, handOver: {} },
  undeliverable: { ...REPORT, reason: 'string' },
  acknowledged: REPORT,
  text: { ...REPORT, text: { textAsr: 'string', textTranslated: 'string' } },
  finished: { ...REPORT, result: { textAsr: 'string', textTranslated: 'string', ttsAudio: 'string' } },
  failed: { ...REPORT, failure: { code: 'string', message: 'string' } },
};

/** No further report of the attempt follows. */
export const isLastReport = ({ kind }: NodeReport): boolean =>
  kind !== 'dispatched' && kind !== 'acknowledged' && kind !== 'text';

export function readNodeReport(body: unknown): NodeReport {
  const { kind } = readMessage<NodeReport>('report', body, REPORT);
  if (!Object.hasOwn(NODE_REPORTS, kind)) throw new Error(`unknown kind of node report: ${kind}`);
  return readMessage<NodeReport>('report', body, NODE_REPORTS[kind]);
}
