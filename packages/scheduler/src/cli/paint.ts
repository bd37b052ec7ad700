/** Colours on a terminal. Pure. */
import type { CommandIo } from './command-io.ts';

export type Colour = 'red' | 'yellow' | 'green';

export type Paint = (text: string, colour: Colour | undefined) => string;

const CODES: Readonly<Record<Colour, number>> = { red: 31, yellow: 33, green: 32 };

export const PLAIN: Paint = (text) => text;

const COLOURED: Paint = (text, colour) =>
  colour === undefined ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;

/** Colours only for people: not into a file or a pipe, and not against NO_COLOR (no-color.org). */
export const paintFor = ({ isTerminal = false, env = {} }: CommandIo): Paint =>
  isTerminal && (env.NO_COLOR ?? '') === '' ? COLOURED : PLAIN;
