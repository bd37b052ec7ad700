/** The configuration as a whole: sources, precedence, origins, and every kind of mistake. */
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';

describe('loadConfig', () => {
  it('gives the defaults without any source', () => {
    const result = loadConfig({});
    expect(result.kind).toBe('ok');
  });
});
