/**
 * Background actor: keeps the list of the hub's services. Cold path. Readers only read memory. A failed refresh keeps the known list; after
 * several failures refreshes become rarer.
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
  /** The last refresh failed. Never true without a hub. */
  isHubDown(): boolean;
  readonly hasHub: boolean;
  /** The list may have changed. Many calls cause one refresh, and they do not shorten the pause after a failure. */
  refreshSoon(): void;
  start(): void;
  stop(): void;
}

/** Calls within this time cause one refresh. */
const SOON_MS = 1_000;
/** Time between two refreshes on request. */
const SOON_APART_MS = 5_000;

export function createCatalogue(deps: {
  /** Absent: there is no hub, and nothing is fetched. */
  readonly hub: ServiceHub | undefined;
  /** A list from a file, used until the first answer of the hub. */
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
    // Logged once when it begins; metrics count the repeats.
    if (state.failCount === 1)
      log.warn(fields, 'cannot refresh the services of the hub; keeping the known ones');
    else log.debug(fields, 'cannot refresh the services of the hub');
    if (state.source === 'none') await readIndex();
  }

  function noteBad(bad: number): void {
    meter.count('scheduler_service_catalog_bad_entries_total', undefined, bad);
    log.debug({ entries: bad }, 'ignored malformed entries of the service catalogue');
  }

  async function readIndex(): Promise<void> {
    if (index === undefined) return;
    try {
      const read = await readAnswer(await index.list(), clock);
      if (read.bad > 0) noteBad(read.bad);
      if (read.kind === 'read') state = afterIndex(state, read.services);
      else log.warn({ reason: read.reason }, 'cannot read services_index.json');
    } catch (fault) {
      log.debug({ err: fault }, 'no services_index.json found');
    }
  }

  /** One refresh is planned at a time: the earliest. */
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
