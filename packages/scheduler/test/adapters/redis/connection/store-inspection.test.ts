/** The store is inspected while instances run: new findings are logged once, fixed ones disappear, and a store that does not answer changes nothing. */
import { expect, it, onTestFinished } from 'vitest';
import type { StoreReport } from '../../../../src/adapters/redis/connection/inspect-store.ts';
import { watchStore } from '../../../../src/adapters/redis/connection/store-inspection.ts';
import { eventually } from '../../../support/eventually.ts';

const SOUND: StoreReport = { objections: [], warnings: ['no replica'] };
const UNFIT: StoreReport = { objections: ['evicts'], warnings: ['no replica'] };

function watching(everyMs?: number) {
  const logged: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: unknown, text: string) => void logged.push(`warn ${text}`),
    error: (_: unknown, text: string) => void logged.push(`error ${text}`),
  };
  const store: { next: () => Promise<StoreReport>; looks: number } = { next: async () => SOUND, looks: 0 };
  const inspection = watchStore({
    inspect: () => {
      store.looks += 1;
      return store.next();
    },
    warnings: ['no replica'],
    log,
    ...(everyMs !== undefined && { everyMs }),
  });
  onTestFinished(() => inspection.close());
  return { store, logged, inspection };
}

it('logs new findings once and drops fixed ones', async () => {
  const { store, logged, inspection } = watching();
  expect([inspection.warnings(), inspection.unfitServers(), logged]).toEqual([
    ['no replica'],
    0,
    ['warn no replica'],
  ]);
  store.next = async () => UNFIT;
  inspection.inspectAgain();
  await eventually(() => inspection.unfitServers() === 1);
  expect(inspection.warnings()).toEqual(['evicts', 'no replica']);
  inspection.inspectAgain();
  await eventually(() => store.looks === 2);
  store.next = async () => ({ objections: [], warnings: [] });
  inspection.inspectAgain();
  await eventually(() => inspection.warnings().length === 0);
  expect(inspection.unfitServers()).toBe(0);
  expect(logged).toEqual(['warn no replica', 'error evicts']);
});

it('keeps its findings while the store does not answer', async () => {
  const { store, inspection } = watching();
  store.next = async () => UNFIT;
  inspection.inspectAgain();
  await eventually(() => inspection.unfitServers() === 1);
  store.next = () => Promise.reject(new Error('away'));
  inspection.inspectAgain();
  await eventually(() => store.looks === 2);
  expect(inspection.warnings()).toEqual(['evicts', 'no replica']);
});

it('inspects once more after changes during an inspection', async () => {
  const { store, inspection } = watching();
  let answer: (report: StoreReport) => void = () => undefined;
  store.next = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  for (let change = 0; change < 5; change += 1) inspection.inspectAgain();
  expect(store.looks).toBe(1);
  store.next = async () => UNFIT;
  answer(SOUND);
  await eventually(() => inspection.unfitServers() === 1);
  expect(store.looks).toBe(2);
});

it('inspects periodically until it is closed', async () => {
  const { store, inspection } = watching(5);
  await eventually(() => store.looks >= 3);
  inspection.close();
  const { looks } = store;
  inspection.inspectAgain();
  expect(store.looks).toBe(looks);
});
