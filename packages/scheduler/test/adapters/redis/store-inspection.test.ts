/** The store is looked at again while instances run: what is new is said once, what is mended is gone, and a store that is away changes nothing. */
import { expect, it, onTestFinished } from 'vitest';
import type { StoreReport } from '../../../src/adapters/redis/connection/inspect-store.ts';
import { watchStore } from '../../../src/adapters/redis/connection/store-inspection.ts';
import { eventually } from '../../support/eventually.ts';

const SOUND: StoreReport = { objections: [], warnings: ['no replica'] };
const UNFIT: StoreReport = { objections: ['evicts'], warnings: ['no replica'] };

function watching(everyMs?: number) {
  const said: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: unknown, text: string) => void said.push(`warn ${text}`),
    error: (_: unknown, text: string) => void said.push(`error ${text}`),
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
  return { store, said, inspection };
}

it('says what is new, once, and forgets what is mended', async () => {
  const { store, said, inspection } = watching();
  expect([inspection.warnings(), inspection.unfitServers(), said]).toEqual([
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
  expect(said).toEqual(['warn no replica', 'error evicts']);
});

it('keeps what it knows of a store that does not answer', async () => {
  const { store, inspection } = watching();
  store.next = async () => UNFIT;
  inspection.inspectAgain();
  await eventually(() => inspection.unfitServers() === 1);
  store.next = () => Promise.reject(new Error('away'));
  inspection.inspectAgain();
  await eventually(() => store.looks === 2);
  expect(inspection.warnings()).toEqual(['evicts', 'no replica']);
});

it('looks once more after a change that came while it looked, and not for each', async () => {
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

it('looks now and then without being told, until it is closed', async () => {
  const { store, inspection } = watching(5);
  await eventually(() => store.looks >= 3);
  inspection.close();
  const { looks } = store;
  inspection.inspectAgain();
  expect(store.looks).toBe(looks);
});
