/** The commands in the documents, as printed: lines of blocks, and code within sentences. */
import { markdownFiles } from './markdown-files.ts';

const BLOCK = /^```(?:sh)?\n(.*?)^```$/gms;
const ANY_BLOCK = /^```.*?^```$/gms;
const INLINE = /`([^`\n]+)`/g;
const COMMAND = /^(?:[A-Z_]+=\S+ )?(?:npm|npx|lingua|curl|head|node) \S/;
/** A command's name within a sentence is not a line to type. */
const NAME_ONLY = /^(?:npx )?lingua [a-z-]+$/;

/** Records of decisions and changes are history; docs/cli.md is the output of --help. */
const isForReaders = (path: string): boolean => !/^(docs\/adr\/|docs\/cli\.md|CHANGELOG)/.test(path);

const withoutComment = (line: string): string => line.replace(/\s+# .*$/, '').trimEnd();

/** A placeholder in capitals is a part of the address or of the argument. */
export function documentedCommands(): string[] {
  const found = markdownFiles
    .filter(({ path }) => isForReaders(path))
    .flatMap(({ text }) => [
      ...[...text.matchAll(BLOCK)].flatMap(([, body = '']) => body.replaceAll('\\\n', ' ').split('\n')),
      ...[...text.replaceAll(ANY_BLOCK, '').matchAll(INLINE)]
        .map(([, code = '']) => code)
        .filter((code) => !NAME_ONLY.test(code)),
    ]);
  const lines = found
    .filter((line) => COMMAND.test(line))
    .map((line) => withoutComment(line).replaceAll(/ {2,}/g, ' '));
  return [...new Set(lines)].sort();
}

/** The words of a line without pipes, as a shell splits them. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
