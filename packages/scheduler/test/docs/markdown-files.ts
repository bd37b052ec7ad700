/** The Markdown files of the repository, and their links and paths. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, ROOT, type SourceFile } from '../architecture/source-files.ts';

const atTop: SourceFile[] = readdirSync(ROOT)
  .filter((name) => name.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

export const markdownFiles: readonly SourceFile[] = [
  ...atTop,
  ...filesUnder('changelog', '.md'),
  ...filesUnder('docs', '.md'),
  ...filesUnder('examples', '.md'),
  ...filesUnder('packages', '.md'),
];

/** Prose only: code blocks are examples. */
const withoutBlocks = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');

/** Targets of links and images. */
export const linksOf = (text: string): string[] =>
  [
    ...withoutBlocks(text)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, target = '']) => target);

/** Inline code that looks like a path of ours: with a folder, and the extension of a source or script. */
export const pathsOf = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/`([\w.@-]+(?:\/[\w.@-]+)+\.(?:ts|mjs|js|md|toml|json))`/g)].map(
    ([, path = '']) => path,
  );

/** The anchors that GitHub gives to headings. */
export const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
