/** A connection that records the messages to its client as short lines. */
import type { SessionLink, SessionOutput } from '../../../src/session/output.ts';

export type Kind = SessionOutput['kind'];
type Of<K extends Kind> = Extract<SessionOutput, { kind: K }>;

export interface RecordingLink extends SessionLink {
  readonly sent: readonly SessionOutput[];
  /** All messages except ui_events, each as one line. */
  lines(): string[];
  /** `EVENT index`, of this utterance only if one is given. */
  ui(index?: number): string[];
  /** `index:text` or `index!reason`. */
  outcomes(): string[];
  of<K extends Kind>(kind: K): Of<K>[];
  /** The resume token, if one was sent. */
  token(): string | undefined;
  isReplaced(): boolean;
  isAbandoned(): boolean;
  forget(): void;
}

export function createRecordingLink(): RecordingLink {
  const sent: SessionOutput[] = [];
  let isReplaced = false;
  let isAbandoned = false;
  const of = <K extends Kind>(kind: K): Of<K>[] => sent.filter((one): one is Of<K> => one.kind === kind);
  return {
    sent,
    send: (_sessionId, output) => sent.push(output),
    replaced() {
      isReplaced = true;
    },
    abandoned() {
      isAbandoned = true;
    },
    lines: () => sent.filter(({ kind }) => kind !== 'ui_event').map(lineOf),
    ui: (index) =>
      of('ui_event')
        .filter(({ about }) => index === undefined || about.index === index)
        .map(({ event, about, errorCode }) =>
          errorCode === undefined ? `${event} ${about.index}` : `${event} ${about.index} ${errorCode}`,
        ),
    outcomes: () => of('outcome').map(outcomeLine),
    of,
    token: () => of('opened')[0]?.resumeToken,
    isReplaced: () => isReplaced,
    isAbandoned: () => isAbandoned,
    forget() {
      sent.length = 0;
    },
  };
}

function outcomeLine({ delivered: { utterance, outcome } }: Of<'outcome'>): string {
  const { index, rendition } = utterance;
  const about = rendition === undefined ? index : `${index} ${rendition.language}/${rendition.kind}`;
  return outcome.kind === 'result' ? `${about}:${outcome.result.textAsr}` : `${about}!${outcome.reason}`;
}

function lineOf(output: SessionOutput): string {
  switch (output.kind) {
    case 'opened':
      return output.isResumed ? 'resumed' : 'opened';
    case 'accepted':
      return `accepted ${output.utterance.index}`;
    case 'partial':
      return `partial ${output.about.index} ${output.text}`;
    case 'outcome':
      return `outcome ${outcomeLine(output)}`;
    case 'ui_event':
      return output.event;
    case 'pressure':
      return `pressure ${output.action} ${output.resumeAfterMs}`;
    case 'error':
      return `error ${output.code}`;
    case 'draining':
      return `draining ${output.reconnectAfterMs}`;
    default:
      return output.kind;
  }
}
