/** The index of in-flight jobs: by job, by node, and nothing remains of removed ones. */
import { describe, expect, it } from 'vitest';
import { NodeNumbers } from '../../../src/domain/numbered/node-numbers.ts';
import { createInFlightJob, type InFlightJob } from '../../../src/runtime/in-flight-job.ts';
import { createInFlightJobs } from '../../../src/runtime/in-flight-jobs.ts';

/** The index reads only its id and tenant. */
const flightOf = (jobId: string): InFlightJob =>
  createInFlightJob({ jobId, tenantId: 't' } as InFlightJob['job'], {} as InFlightJob['compiled']);

describe('in-flight jobs', () => {
  it('are found by job and by node, also after a move', () => {
    const inFlightJobs = createInFlightJobs();
    const [one, two] = [flightOf('job-1'), flightOf('job-2')];
    for (const flight of [one, two]) {
      inFlightJobs.add(flight);
      inFlightJobs.setNode(flight, 'node-1');
      inFlightJobs.setNode(flight, 'node-1');
    }
    expect(inFlightJobs.get('job-1')).toBe(one);
    expect(new Set(inFlightJobs.on('node-1'))).toEqual(new Set([one, two]));
    inFlightJobs.setNode(one, 'node-2');
    expect(inFlightJobs.on('node-1')).toEqual([two]);
    expect(inFlightJobs.on('node-2')).toEqual([one]);
    expect(inFlightJobs.on('node-3')).toEqual([]);
    inFlightJobs.remove(one);
    expect(inFlightJobs.get('job-1')).toBeUndefined();
    expect(inFlightJobs.on('node-2')).toEqual([]);
    expect([...inFlightJobs.all()]).toEqual([two]);
  });

  it('are replaced by a newer one of the same job', () => {
    const inFlightJobs = createInFlightJobs();
    const [before, now] = [flightOf('job-1'), flightOf('job-1')];
    inFlightJobs.add(before);
    inFlightJobs.setNode(before, 'node-1');
    inFlightJobs.add(now);
    inFlightJobs.setNode(now, 'node-1');
    expect(inFlightJobs.on('node-1')).toEqual([now]);
    inFlightJobs.setNode(before, 'node-2');
    inFlightJobs.remove(before);
    expect(inFlightJobs.on('node-2')).toEqual([]);
    expect(inFlightJobs.get('job-1')).toBe(now);
    expect(inFlightJobs.size()).toBe(1);
  });

  it('I11 bounded: keep nothing of a node without jobs', () => {
    const numbers = new NodeNumbers();
    const inFlightJobs = createInFlightJobs(undefined, undefined, numbers);
    for (let at = 0; at < 100; at++) {
      const flight = flightOf(`job-${at}`);
      inFlightJobs.add(flight);
      inFlightJobs.setNode(flight, `node-${at % 7}`);
      inFlightJobs.setNode(flight, `node-${at % 5}`);
      inFlightJobs.remove(flight);
    }
    expect(numbers.size).toBe(0);
    expect(inFlightJobs.size()).toBe(0);
  });
});
