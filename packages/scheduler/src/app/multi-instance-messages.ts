/** Composition root: the message bus and the inbox reader. */

import type { Presence } from '../cluster/membership/presence.ts';
import { createInboxReader } from '../cluster/messaging/inbox-reader.ts';
import { createMessageBus, laneOf } from '../cluster/messaging/message-bus.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { TenantOfMessage } from '../ports/inbox.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { SharedStore } from './redis-store.ts';
import { inboxReaderSettings } from './settings/shared-settings.ts';

export function createMessaging(deps: {
  readonly config: Config;
  readonly instanceId: string;
  readonly store: Pick<SharedStore, 'inbox' | 'replaceReader'>;
  readonly tenantOf: TenantOfMessage;
  readonly presence: Pick<Presence, 'self' | 'isFenced' | 'living'>;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'traceId'>;
  readonly meter: Meter;
  readonly log: Log;
}) {
  const { config, instanceId, store, presence, clock, meter, log } = deps;
  const { inbox } = store;
  const { isFenced } = presence;
  const bus = createMessageBus({
    inbox,
    clock,
    meter,
    self: presence.self,
    isFenced,
    living: presence.living,
    newReplyId: deps.ids.traceId,
  });
  const reader = createInboxReader({
    instanceId,
    inbox,
    clock,
    log,
    meter,
    settings: inboxReaderSettings(config),
    laneOf,
    handle: bus.receive,
    tenantOf: deps.tenantOf,
    isFenced,
    stuck: store.replaceReader,
  });
  return { bus, reader };
}
