/** The index of all flights: by job, by node, and nothing left of those that are gone. */
import { describe, expect, it } from 'vitest';
import { NodeNumbers } from '../../../src/domain/numbered/node-numbers.ts';
import { createFlight, type Flight } from '../../../src/runtime/in-flight-job.ts';
import { createFlights } from '../../../src/runtime/in-flight-jobs.ts';

/** Only its name and tenant are looked at here. */
const flightOf = (jobId: string): Flight =>
  createFlight({ jobId, tenantId: 't' } as Flight['job'], {} as Flight['need'], {} as Flight['compiled']);

describe('flights', () => {
  it('are found by their job and by the node that has it, which may change', () => {
    const flights = createFlights();
    const [one, two] = [flightOf('job-1'), flightOf('job-2')];
    for (const flight of [one, two]) {
      flights.add(flight);
      flights.board(flight, 'node-1');
      flights.board(flight, 'node-1');
    }
    expect(flights.get('job-1')).toBe(one);
    expect(new Set(flights.on('node-1'))).toEqual(new Set([one, two]));
    flights.board(one, 'node-2');
    expect(flights.on('node-1')).toEqual([two]);
    expect(flights.on('node-2')).toEqual([one]);
    expect(flights.on('node-3')).toEqual([]);
    flights.remove(one);
    expect(flights.get('job-1')).toBeUndefined();
    expect(flights.on('node-2')).toEqual([]);
    expect([...flights.all()]).toEqual([two]);
  });

  it('of a job that is in flight again takes the place of the one before, which changes nothing any more', () => {
    const flights = createFlights();
    const [before, now] = [flightOf('job-1'), flightOf('job-1')];
    flights.add(before);
    flights.board(before, 'node-1');
    flights.add(now);
    flights.board(now, 'node-1');
    expect(flights.on('node-1')).toEqual([now]);
    flights.board(before, 'node-2');
    flights.remove(before);
    expect(flights.on('node-2')).toEqual([]);
    expect(flights.get('job-1')).toBe(now);
    expect(flights.size()).toBe(1);
  });

  it('I11 bounded: of a node without flights nothing is kept', () => {
    const numbers = new NodeNumbers();
    const flights = createFlights(undefined, undefined, numbers);
    for (let at = 0; at < 100; at++) {
      const flight = flightOf(`job-${at}`);
      flights.add(flight);
      flights.board(flight, `node-${at % 7}`);
      flights.board(flight, `node-${at % 5}`);
      flights.remove(flight);
    }
    expect(numbers.size).toBe(0);
    expect(flights.size()).toBe(0);
  });
});
