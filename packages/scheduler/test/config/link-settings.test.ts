/** How long a lease lasts from the hand-over of its job. */
import { expect, it } from 'vitest';
import { linkSettings } from '../../src/app/settings/settings-from-config.ts';
import { configOf } from './loaded.ts';

it('a lease lasts for the job timeout plus the grace', () => {
  expect(linkSettings(configOf('')).committedMs).toBe(65_000);
  const config = configOf('[scheduler]\njob_timeout_seconds = 20\nreservation_ttl_ms = 7000\n');
  expect(linkSettings(config).committedMs).toBe(27_000);
});

it('an endpoint has the acknowledgement timeout to answer', () => {
  const config = configOf('[scheduler]\nack_timeout_ms = 1500\n');
  expect(linkSettings(config).endpointTimeoutMs).toBe(1_500);
});
