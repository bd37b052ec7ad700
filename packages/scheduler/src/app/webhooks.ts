/** Composition root: webhooks, from the configuration. Receivers are reached by the rules of callback endpoints. */
import { createEndpointCaller } from '../adapters/http/endpoint-caller.ts';
import { eventsOf } from '../config/settings/check-webhooks.ts';
import type { Config } from '../config/settings.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { Locks } from '../ports/locks.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { createNetworks } from '../transport/access/networks.ts';
import { createWebhooks, type Receiver } from '../webhooks/create-webhooks.ts';

/** Of one receiver; as many as one receiver may get at once. */
const MAX_SOCKETS = 8;

export const receiversOf = ({ webhooks }: Config): readonly Receiver[] =>
  webhooks.receivers.map((row, index) => ({
    name: row.name ?? `receiver ${index}`,
    url: row.url,
    secret: row.secret ?? '',
    tenantId: row.tenant_id,
    types: new Set(eventsOf(row)),
    withTexts: row.texts,
  }));

export function createConfiguredWebhooks(deps: {
  readonly config: Config;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly locks: Locks;
  readonly meter: Meter;
  readonly log: Log;
}) {
  const { config, clock } = deps;
  const { timeout_ms: timeoutMs, retry_for_ms: retryForMs, max_waiting: maxWaiting } = config.webhooks;
  const networks = createNetworks(config.server.endpoint_networks);
  const webhooks = createWebhooks({
    ...deps,
    receivers: receiversOf(config),
    settings: { timeoutMs, retryForMs, maxWaiting },
    openCaller: (signingKey) =>
      createEndpointCaller({ networks, signingKey, now: clock.now, maxSocketsPerHost: MAX_SOCKETS }),
  });
  return { ...webhooks, changeTo: (to: Config) => webhooks.change(receiversOf(to)) };
}
