/** Settings and fields with a unit that the documents name exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { markdownFiles } from './markdown-files.ts';

const PRINTED = ['docs/config.md', 'docs/protocol.md', 'docs/metrics.md', 'docs/errors.md', 'docs/cli.md'];
/** Settings of Redis, figures that only the bench prints, and the configuration of a program under test. */
const OTHERS = /^(bench\/|docs\/(bench|conformance)\.md$)/;

const known = PRINTED.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');

it('documents name only settings and fields that exist', () => {
  const lost = markdownFiles
    .filter(({ path }) => !PRINTED.includes(path) && !OTHERS.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`(?:[a-z0-9_]+\.)*([a-z0-9]+(?:_[a-z0-9]+)*_(?:ms|seconds|bytes))`/g)]
        .map(([, name = '']) => name)
        .filter((name) => !new RegExp(`\\b${name}\\b`).test(known))
        .map((name) => `${path} names ${name}`),
    );
  expect(lost).toEqual([]);
});
