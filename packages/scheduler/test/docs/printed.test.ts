/** Printed documents equal the output of the code. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PRINTED_DOCUMENTS } from '../../src/cli/docs/printed-documents.ts';
import { JOB_NEXT } from '../../src/domain/job.ts';
import { NODE_NEXT } from '../../src/domain/node.ts';
import { ACCEPTANCE_NEXT, WATCH_NEXT } from '../../src/session/utterance-state.ts';
import { ROOT } from '../architecture/source-files.ts';

/** Compared by the tests next to their tables. */
const COMPARED_ELSEWHERE = [
  'config.example.toml',
  'docs/config.md',
  'docs/protocol.md',
  'docs/protocol.schema.json',
];

const documents = PRINTED_DOCUMENTS.filter(({ path }) => !COMPARED_ELSEWHERE.includes(path));

describe('printed documents', () => {
  it.each(documents)('$path equals its printed form (npm run build && npm run docs)', async (document) => {
    const file = join(ROOT, document.path);
    expect(existsSync(file), `${document.path} exists`).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(await document.print());
  });

  it('the diagrams show exactly the arrows of the state tables', async () => {
    const page = await documents.find(({ path }) => path === 'docs/state-machines.md')?.print();
    const drawn = [...(page ?? '').matchAll(/^ {2}(\w+) --> (\w+): (\w+)$/gm)].map((arrow) =>
      arrow.slice(1).join(' '),
    );
    const tables = [JOB_NEXT, NODE_NEXT, ACCEPTANCE_NEXT, WATCH_NEXT].flatMap((next) => Object.entries(next));
    const meant = tables.flatMap(([from, moves]) =>
      Object.entries(moves).map(([event, to]) => [from, to, event].join(' ')),
    );
    expect(drawn.sort()).toEqual(meant.sort());
  });
});
