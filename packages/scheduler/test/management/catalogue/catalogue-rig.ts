/** A catalogue on a stepped clock, with a hub and an index file that say what a test wants them to. */
import type { MetricName } from '../../../src/domain/metrics.ts';
import { createCatalogue } from '../../../src/management/catalogue/create-catalogue.ts';
import type { ServiceHub } from '../../../src/ports/service-hub.ts';
import { createManualClock } from '../../support/manual-clock.ts';

export const SETTINGS = {
  refreshIntervalMs: 30_000,
  backoffAfterFailures: 3,
  backoffBaseMs: 30_000,
  backoffMaxMs: 300_000,
};

export const entry = (id: string) => ({
  service_id: id,
  name: `Service ${id}`,
  latest_version: '1.2.0',
  variants: [
    {
      version: '1.2.0',
      platform: 'linux-x64',
      artifact: { type: 'zip', url: `/s/${id}`, sha256: 'ab', size_bytes: 7 },
    },
  ],
});

export const NEVER = Symbol('a hub that does not answer');

/** An answer, an error to throw, or no answer at all. */
export type Says = unknown;

interface Speaker {
  says: Says;
  asked: number;
  readonly hub: ServiceHub;
}

function createSpeaker(first: Says): Speaker {
  const speaker: Speaker = {
    says: first,
    asked: 0,
    hub: {
      list: () => {
        speaker.asked += 1;
        if (speaker.says === NEVER) return new Promise(() => undefined);
        return speaker.says instanceof Error ? Promise.reject(speaker.says) : Promise.resolve(speaker.says);
      },
    },
  };
  return speaker;
}

export function startCatalogue(hubSays: Says, indexSays?: Says, options: { hasHub?: boolean } = {}) {
  const clock = createManualClock();
  const counts = new Map<string, number>();
  const logged: string[] = [];
  const line = (_: unknown, message: string) => void logged.push(message);
  const hub = createSpeaker(hubSays);
  const index = createSpeaker(indexSays ?? new Error('no file'));
  const catalogue = createCatalogue({
    hub: options.hasHub === false ? undefined : hub.hub,
    index: indexSays === undefined ? undefined : index.hub,
    clock,
    meter: {
      count(name: MetricName, labels, by = 1) {
        const key = [name, ...Object.values(labels ?? {})].join(' ');
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      gauge: () => undefined,
      observe: () => undefined,
    },
    log: { debug: () => undefined, info: line, warn: line, error: line },
    settings: SETTINGS,
  });
  catalogue.start();
  const ids = () => catalogue.services().map(({ serviceId }) => serviceId);
  return { catalogue, clock, hub, index, counts, logged, ids };
}
