/** The bench measures the product with the product's Node.js flags. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the bench starts Node.js as the command does, and its processes inherit that', () => {
  const asLingua = /exec node (.+) "\$0"/.exec(read('packages/scheduler/bin/lingua.js'))?.[1];
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { bench: string } };
  expect(asLingua).toContain('--');
  expect(scripts.bench).toBe(`node --expose-gc ${asLingua} bench/dist/main.js`);
});
