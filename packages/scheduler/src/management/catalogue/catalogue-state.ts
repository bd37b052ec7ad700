/** Cold path: the known services of the hub, and how a refresh changes them. A failed refresh removes nothing. Pure. */
import type { CatalogueService } from './read-services.ts';

export interface CatalogueState {
  readonly services: readonly CatalogueService[];
  /** Source of the services; `none`: nothing was read yet. */
  readonly source: 'none' | 'index' | 'hub';
  /** When the last refresh ended, successful or not (epoch ms). */
  readonly fetchedAt: number | undefined;
  readonly lastSuccessAt: number | undefined;
  /** Failures since the last success. */
  readonly failCount: number;
  readonly lastError: string | undefined;
}

export interface CatalogueSettings {
  readonly refreshIntervalMs: number;
  readonly backoffAfterFailures: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

export const NOTHING_KNOWN: CatalogueState = {
  services: [],
  source: 'none',
  fetchedAt: undefined,
  lastSuccessAt: undefined,
  failCount: 0,
  lastError: undefined,
};

const MAX_ERROR_CHARS = 300;

export const afterSuccess = (services: readonly CatalogueService[], now: number): CatalogueState => ({
  services,
  source: 'hub',
  fetchedAt: now,
  lastSuccessAt: now,
  failCount: 0,
  lastError: undefined,
});

export const afterFailure = (state: CatalogueState, error: string, now: number): CatalogueState => ({
  ...state,
  fetchedAt: now,
  failCount: state.failCount + 1,
  lastError: error.slice(0, MAX_ERROR_CHARS),
});

/** The index file counts until the first answer of the hub. It says nothing about whether the hub works. */
export const afterIndex = (state: CatalogueState, services: readonly CatalogueService[]): CatalogueState =>
  state.source === 'hub' ? state : { ...state, services, source: 'index' };

/** After failures the interval is never shorter than the regular one. */
export function nextRefreshInMs({ failCount }: CatalogueState, settings: CatalogueSettings): number {
  const { refreshIntervalMs, backoffAfterFailures, backoffBaseMs, backoffMaxMs } = settings;
  if (failCount < backoffAfterFailures) return refreshIntervalMs;
  const waitMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** (failCount - backoffAfterFailures));
  return Math.max(refreshIntervalMs, waitMs);
}

export const isBackingOff = (
  { failCount }: CatalogueState,
  { backoffAfterFailures }: CatalogueSettings,
): boolean => failCount >= backoffAfterFailures;
