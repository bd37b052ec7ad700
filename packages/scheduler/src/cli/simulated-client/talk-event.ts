/** Events of a running talk, as a line of text or JSON. Pure. */
import type { Said } from '../simulated-speech.ts';
import type { Summary } from './summary.ts';
import type { OutcomeReport } from './tally.ts';

export type TalkEvent =
  | {
      readonly kind: 'outcome';
      readonly index: number;
      readonly report: OutcomeReport;
      /** Absent: there is no translation, and `missing` is the reason. */
      readonly texts?: { readonly recognised: string; readonly translated: string };
      readonly missing?: string;
    }
  /** `unreached`: there was no connection yet. */
  | { readonly kind: 'disconnected' | 'unreached'; readonly code: number }
  | { readonly kind: 'resumed' | 'reopened'; readonly afterMs: number }
  | { readonly kind: 'pressure'; readonly action: string; readonly resumeAfterMs: number | undefined }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };

/** `who`: such as `pair 1`. */
export function eventLine(who: string, event: TalkEvent, languages: readonly [string, string]): string {
  switch (event.kind) {
    case 'outcome':
      return `${who}  ${speakerOf(event.report.said, languages)}  #${event.index}  ${whatCame(event)}${costs(event.report)}`;
    case 'disconnected':
      return `${who}  connection lost (${event.code}); they continue talking`;
    case 'unreached':
      return `${who}  cannot connect (${event.code}); they try again`;
    case 'resumed':
      return `${who}  back after ${event.afterMs} ms, session resumed`;
    case 'reopened':
      return `${who}  back after ${event.afterMs} ms in a new session; utterances without an outcome are sent again`;
    case 'pressure':
      return `${who}  the scheduler requests ${event.action}`;
    case 'error':
      return `${who}  error ${event.code}: ${event.message}`;
  }
}

export const eventJson = (
  who: { readonly pair: number } | { readonly person: number },
  { kind, ...rest }: TalkEvent,
): string => JSON.stringify({ event: kind, ...who, ...rest });

export function summaryLine(summary: Summary): string {
  const { missing, latencyMs: latency } = summary;
  const reasons = Object.entries(missing).map(([reason, count]) => `${reason} ${count}`);
  const total = Object.values(missing).reduce((sum, count) => sum + count, 0);
  const parts = [
    `utterances ${summary.utterances}`,
    `results ${summary.results}`,
    `missing ${total}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`,
    `connections lost ${summary.disconnects} (resumed ${summary.resumed}, new sessions ${summary.reopened})`,
    `latency ${latency === undefined ? '—' : `p50 ${latency.p50} ms, p99 ${latency.p99} ms`}`,
    `lost ${summary.lost}`,
    `doubled ${summary.doubled}`,
    ...(summary.outOfOrder > 0 ? [`out of order ${summary.outOfOrder}`] : []),
    ...(summary.refusedBytes > 0 ? [`audio refused ${summary.refusedBytes} bytes`] : []),
  ];
  return `sessions ${summary.sessions} · ${parts.join(' · ')}`;
}

export const summaryJson = (summary: Summary): string => JSON.stringify({ event: 'summary', ...summary });

function speakerOf(said: Said | undefined, [first, second]: readonly [string, string]): string {
  if (said === undefined) return '?';
  return said.isSecondSpeaker ? second : first;
}

function whatCame({ texts, missing }: Extract<TalkEvent, { kind: 'outcome' }>): string {
  return texts === undefined ? `no translation: ${missing}` : `“${texts.recognised}” → “${texts.translated}”`;
}

function costs({ verdict, latencyMs }: OutcomeReport): string {
  const time = latencyMs === undefined ? '' : `  ${Math.round(latencyMs)} ms`;
  return verdict === 'good' ? time : `${time}  (${verdict.replaceAll('_', ' ')})`;
}

/** What to look at if no session was opened. */
export const whyUnserved = ({
  urls,
  token,
}: {
  readonly urls: readonly string[];
  readonly token: string | undefined;
}): string =>
  `no session could be opened at ${urls.join(' or ')}; is a scheduler running there, and ` +
  (token === undefined ? 'does it require a --token?' : 'does it know this --token?');
