/** A transcript as subtitles (vtt, srt) or as plain text. Pure. */
import type { Caption } from '../../../session/rooms/room-service.ts';

export interface PrintedTranscript {
  readonly type: string;
  readonly text: string;
}

/** Shorter ones could not be read. */
const SHORTEST_CUE_MS = 1_000;

/** `origin`: the moment from which the times are counted; absent: when the first caption began. */
export function printTranscript(
  format: 'vtt' | 'srt' | 'txt',
  captions: readonly Caption[],
  origin = captions.reduce((first, { startedAt }) => Math.min(first, startedAt), Number.POSITIVE_INFINITY),
): PrintedTranscript {
  switch (format) {
    case 'vtt':
      return {
        type: 'text/vtt',
        text: ['WEBVTT\n', ...captions.map((each) => vttCue(each, origin))].join('\n'),
      };
    case 'srt':
      return {
        type: 'application/x-subrip',
        text: captions.map((each, at) => srtCue(each, at + 1, origin)).join('\n'),
      };
    default:
      return { type: 'text/plain', text: captions.map((each) => `${lineOf(each)}\n`).join('') };
  }
}

function vttCue(caption: Caption, origin: number): string {
  const { speakerName, text } = caption;
  const voice = speakerName === undefined ? '' : `<v ${escapeVtt(speakerName)}>`;
  return `${caption.seq}\n${times(caption, origin, '.')}\n${voice}${escapeVtt(text)}\n`;
}

/** `number`: from 1 without gaps, as some players expect. */
const srtCue = (caption: Caption, number: number, origin: number): string =>
  `${number}\n${times(caption, origin, ',')}\n${said(caption)}\n`;

const lineOf = (caption: Caption): string =>
  `[${new Date(caption.startedAt).toISOString()}] ${said(caption)}`;

const said = ({ speakerName, text }: Caption): string =>
  onOneLine(speakerName === undefined ? text : `${speakerName}: ${text}`);

function times({ startedAt, endedAt }: Caption, origin: number, point: string): string {
  const from = Math.max(0, startedAt - origin);
  const to = Math.max(from + SHORTEST_CUE_MS, endedAt - origin);
  return `${clockTime(from, point)} --> ${clockTime(to, point)}`;
}

function clockTime(ms: number, point: string): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const part = String(Math.floor(ms % 1_000)).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${part}`;
}

/** An empty line would end the cue. */
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const escapeVtt = (text: string): string =>
  onOneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
