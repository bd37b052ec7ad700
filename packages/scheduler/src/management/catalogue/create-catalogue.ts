/**
 * Background actor: keeps the list of the hub's services. Cold path. Readers only ever read memory; a refresh that fails leaves what
 * is known as it is, and after a few of them the hub is asked more rarely.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { ServiceHub } from '../../ports/service-hub.ts';
import {
  afterFailure,
  afterIndex,
  afterSuccess,
  type CatalogueSettings,
  type CatalogueState,
  isBackingOff,
  NOTHING_KNOWN,
  nextRefreshInMs,
} from './catalogue-state.ts';
import { readAnswer } from './read-in-slices.ts';
import type { CatalogueService } from './read-services.ts';

export interface Catalogue {
  /** The same object until a refresh brings another list. */
  services(): readonly CatalogueService[];
  state(): CatalogueState;
  /** The last time it was asked it could not be used. Never true without a hub. */
  isHubDown(): boolean;
  readonly hasHub: boolean;
  /** Something says that the list has changed. Many such words are one refresh, and a hub that fails is not asked sooner for it. */
  refreshSoon(): void;
  start(): void;
  stop(): void;
}

/** Words that come within it are one. */
const SOON_MS = 1_000;
/** Time between two refreshes that somebody asked for. */
const SOON_APART_MS = 5_000;

export function createCatalogue(deps: {
  /** Absent: nothing is fetched. */
  readonly hub: ServiceHub | undefined;
  /** A list from elsewhere, for as long as the hub has not answered. */
  readonly index: ServiceHub | undefined;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  readonly settings: CatalogueSettings;
}): Catalogue {
  const { hub, index, clock, meter, log, settings } = deps;
  let state: CatalogueState = NOTHING_KNOWN;
  let next: { readonly at: number; readonly cancel: Cancel } | undefined;
  let isRefreshing = false;
  let isWantedSoon = false;
  let isStopped = false;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function refresh(from: ServiceHub): Promise<void> {
    isRefreshing = true;
    askedAt = clock.now();
    try {
      const read = await readAnswer(await from.list(), clock);
      if (read.bad > 0) noteBad(read.bad);
      if (read.kind === 'read') succeeded(read.services);
      else await failed(read.reason);
    } catch (fault) {
      await failed(fault instanceof Error ? fault.message : String(fault));
    } finally {
      isRefreshing = false;
      plan(nextRefreshInMs(state, settings));
      if (isWantedSoon) planSoon();
    }
  }

  function succeeded(services: readonly CatalogueService[]): void {
    meter.count('scheduler_service_catalog_refresh_total', { result: 'ok' });
    if (state.failCount > 0) log.info({ failures: state.failCount }, 'the hub answers again');
    state = afterSuccess(services, clock.now());
  }

  async function failed(error: string): Promise<void> {
    meter.count('scheduler_service_catalog_refresh_total', { result: 'failed' });
    state = afterFailure(state, error, clock.now());
    const fields = { error: state.lastError, fail_count: state.failCount, services: state.services.length };
    // Said when it begins; afterwards metrics count it.
    if (state.failCount === 1)
      log.warn(fields, 'the services of the hub were not refreshed; those known stay');
    else log.debug(fields, 'the services of the hub were not refreshed');
    if (state.source === 'none') await readIndex();
  }

  function noteBad(bad: number): void {
    meter.count('scheduler_service_catalog_bad_entries_total', undefined, bad);
    log.debug({ entries: bad }, 'entries of the service catalogue were passed over');
  }

  async function readIndex(): Promise<void> {
    if (index === undefined) return;
    try {
      const read = await readAnswer(await index.list(), clock);
      if (read.bad > 0) noteBad(read.bad);
      if (read.kind === 'read') state = afterIndex(state, read.services);
      else log.warn({ reason: read.reason }, 'services_index.json could not be used');
    } catch (fault) {
      log.debug({ err: fault }, 'there is no services_index.json to begin with');
    }
  }

  /** One refresh is planned at a time, the earliest. */
  function plan(delayMs: number): void {
    if (isStopped || hub === undefined) return;
    const at = clock.now() + delayMs;
    if (next !== undefined && next.at <= at) return;
    next?.cancel();
    const cancel = clock.after(delayMs, () => {
      next = undefined;
      void refresh(hub);
    });
    next = { at, cancel };
  }

  function planSoon(): void {
    isWantedSoon = false;
    if (isBackingOff(state, settings)) return;
    plan(Math.max(SOON_MS, askedAt + SOON_APART_MS - clock.now()));
  }

  async function begin(): Promise<void> {
    await readIndex();
    if (hub !== undefined && !isStopped) await refresh(hub);
  }

  return {
    services: () => state.services,
    state: () => state,
    isHubDown: () => state.failCount > 0,
    hasHub: hub !== undefined,
    refreshSoon() {
      if (isRefreshing) isWantedSoon = true;
      else if (next !== undefined) planSoon();
    },
    start() {
      if (hub === undefined) log.info({}, NO_HUB);
      void begin();
    },
    stop() {
      isStopped = true;
      next?.cancel();
    },
  };
}

const NO_HUB = 'no service catalogue is fetched: model_hub.base_url is not set';
