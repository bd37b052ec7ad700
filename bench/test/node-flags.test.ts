/** The bench measures the product with the product's Node.js flags. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the bench starts Node.js as the systemd unit and the command do, and its processes inherit that', () => {
  const ofUnit = /^ExecStart=\S+ node (.+) \S+\/bin\/lingua\.js /m.exec(
    read('ops/systemd/lingua-scheduler.service'),
  )?.[1];
  const ofCommand = /setFlagsFromString\('(.+)'\)/.exec(read('packages/scheduler/bin/lingua.js'))?.[1];
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { bench: string } };
  expect(ofUnit).toContain('--');
  expect(scripts.bench).toBe(`node --expose-gc ${ofCommand} ${ofUnit} bench/dist/main.js`);
});
