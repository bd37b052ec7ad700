/** What happens in a talk in a room, as a line of text or JSON. Pure. */
import type { RoomEvents } from '@lingua/sdk/client';
import type { CaptionVerdict, LanguageCounts } from './room-tally.ts';
import type { Summary } from './summary.ts';

/** One caption as one listener got it. People are counted from 1. */
export interface HeardCaption {
  readonly person: number;
  readonly speaker: number;
  readonly speaks: string;
  readonly caption: RoomEvents['caption'];
  readonly verdict: CaptionVerdict;
  /** From the end of the speech. */
  readonly delayMs: number;
}

export interface RoomSummary extends Summary {
  readonly captions: readonly (LanguageCounts & { readonly delayMs: Summary['latencyMs'] })[];
}

export function captionLine({ person, speaker, speaks, caption, verdict, delayMs }: HeardCaption): string {
  const { language, seq, text, source, isFinal, errorCode } = caption;
  const said = source === undefined ? `“${text}”` : `“${source}” → “${text}”`;
  const remarks = [
    ...(isFinal ? [] : ['translation follows']),
    ...(errorCode === undefined ? [] : [`no translation: ${errorCode}`]),
    ...(verdict === 'good' ? [] : [verdict.replaceAll('_', ' ')]),
  ];
  const remark = remarks.length === 0 ? '' : `  (${remarks.join(', ')})`;
  return `person ${person}  ${language}  ← person ${speaker}  ${speaks}  #${seq}  ${said}  ${Math.round(delayMs)} ms${remark}`;
}

export function captionJson({ person, speaker, speaks, caption, verdict, delayMs }: HeardCaption): string {
  const { language, seq, text, textLanguage, source, isFinal, errorCode } = caption;
  const shown = { seq, text, textLanguage, source, isFinal, errorCode, verdict, delayMs };
  return JSON.stringify({ event: 'caption', person, language, speaker, speaks, ...shown });
}

export const captionsLine = ({ delayMs, ...counts }: RoomSummary['captions'][number]): string =>
  [
    `${counts.language}  listeners ${counts.listeners}`,
    `captions promised ${counts.promised}`,
    `received ${counts.received}`,
    `delay ${delayMs === undefined ? '—' : `p50 ${delayMs.p50} ms, p99 ${delayMs.p99} ms`}`,
    `lost ${counts.lost}`,
    `doubled ${counts.doubled}`,
    `out of order ${counts.outOfOrder}`,
  ].join(' · ');
