/** The shell command that keeps an Apertium mode running: each of its programs flushes its output at a NUL byte. Pure. */

/**
 * A mode file is a pipeline of commands with two parameters: $1 are the options of the generator (-n: unknown words come
 * out as they are, without a mark), $2 those of the tagger (none).
 */
export function modeCommand(mode: string): string {
  return mode
    .trim()
    .replaceAll('$1', '-n')
    .replaceAll('$2', '')
    .split('|')
    .map((command) => command.trim().replace(/^(\S+)/, '$1 -z'))
    .join(' | ');
}

/** Characters with a meaning in Apertium's stream format. */
const RESERVED = /[\^$[\]{}\\/@<>]/g;
/** Ends the sentence, so that the programs do not wait for the next word; the empty block is found again in the output. */
const END = '.[]\n';

/** The bytes of one text for the pipeline. Control characters, which would end or split it, become spaces. */
export const toStream = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach the stream
  `${text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').replaceAll(RESERVED, String.raw`\$&`)}${END}\0`;

/** The text of one reply of the pipeline, without its NUL. */
export const fromStream = (reply: string): string =>
  reply
    .replace(/\.?\[\]\s*$/, '')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
