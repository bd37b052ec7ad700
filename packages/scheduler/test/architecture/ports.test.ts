/** A port is small, and its first comment is its contract. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, ROOT } from './source-files.ts';

const MOST_METHODS = 8;
const ports = filesUnder('packages/scheduler/src/ports', '.ts');

const isPort = ({ text }: { text: string }): boolean => /^\/\*\*\s*(\* )?Port: /.test(text);

/** Methods of each interface a text exports; members without a call are data. */
function methodsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const interfaces = [...text.matchAll(/^export interface (\w+)[^\n]*\{\n(.*?)^\}/gms)];
  return new Map(
    interfaces.map(([, name = '', body = '']) => [
      name,
      [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??(?:<[^>]*>)?(?:\(|: \()/gm)].map(
        ([, method = '']) => method,
      ),
    ]),
  );
}

describe('ports', () => {
  it('are counted rightly', () => {
    const text = [
      'export interface Box<T> {',
      '  /** Puts it in. */',
      '  put(item: T): void;',
      '  take(',
      '    limits: { max: number },',
      '  ): Promise<T>;',
      '  find<K>(key: K): T | undefined;',
      '  readonly onFull: (item: T) => void;',
      '  readonly size: number;',
      '}',
    ].join('\n');
    expect(methodsOf(text).get('Box')).toEqual(['put', 'take', 'find', 'onFull']);
  });

  it(`have at most ${MOST_METHODS} methods`, () => {
    const large = ports.flatMap(({ path, text }) =>
      [...methodsOf(text)]
        .filter(([, methods]) => methods.length > MOST_METHODS)
        .map(([name, methods]) => `${path}: ${name} has ${methods.length}`),
    );
    expect(large).toEqual([]);
  });

  it('introduce themselves as ports', () => {
    const silent = ports.filter((file) => !isPort(file)).map(({ path }) => path);
    expect(silent).toEqual([]);
  });

  it('have a contract suite of the same name', () => {
    const lawless = ports
      .filter(isPort)
      .map(({ path }) => basename(path))
      .filter((name) => !existsSync(join(ROOT, 'packages/scheduler/test/contracts', name)));
    expect(lawless).toEqual([]);
  });
});
