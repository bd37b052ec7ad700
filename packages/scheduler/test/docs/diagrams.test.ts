/** Sequence diagrams are valid Mermaid, and every design page has one. */
import { describe, expect, it } from 'vitest';
import { markdownFiles } from './markdown-files.ts';

const DIAGRAM = /^```mermaid\nsequenceDiagram\n(.*?)^```$/gms;
const BLOCKS = /^(par|loop|alt|opt)\b/;

/** A message, a note, or the beginning, middle or end of a block. */
const LINE =
  /^(participant \w+ as .+|\w+-?->>\w+: .+|Note over \w+(,\w+)?: .+|(par|and|loop|alt|else|opt)\b.*|end)$/;

const diagrams = markdownFiles.flatMap(({ path, text }) =>
  [...text.matchAll(DIAGRAM)].map(([, body = '']) => ({
    path,
    lines: body
      .trimEnd()
      .split('\n')
      .map((line) => line.trim()),
  })),
);

const participantsOf = (lines: readonly string[]): Set<string> =>
  new Set(lines.flatMap((line) => /^participant (\w+) /.exec(line)?.[1] ?? []));

describe('sequence diagrams', () => {
  it('every page under docs/design has one', () => {
    const pages = markdownFiles
      .map(({ path }) => path)
      .filter((path) => path.startsWith('docs/design/') && !path.endsWith('/README.md'));
    const drawn = new Set(diagrams.map(({ path }) => path));
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.filter((path) => !drawn.has(path))).toEqual([]);
  });

  it('every line is a message, a note or a block', () => {
    const odd = diagrams.flatMap(({ path, lines }) =>
      // Mermaid ends a statement at a semicolon.
      lines.filter((line) => !LINE.test(line) || line.includes(';')).map((line) => `${path}: ${line}`),
    );
    expect(odd).toEqual([]);
  });

  it('every block ends', () => {
    const open = diagrams.filter(
      ({ lines }) =>
        lines.filter((line) => BLOCKS.test(line)).length !== lines.filter((line) => line === 'end').length,
    );
    expect(open).toEqual([]);
  });

  it('messages name declared participants', () => {
    const lost = diagrams.flatMap(({ path, lines }) => {
      const known = participantsOf(lines);
      return lines
        .flatMap((line) => /^(\w+)-?->>(\w+):/.exec(line)?.slice(1) ?? [])
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`);
    });
    expect(lost).toEqual([]);
  });
});
