/** The law of the port `GlossaryStore`, for every adapter. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Glossary, MOST_GLOSSARIES } from '../../src/domain/glossary.ts';
import type { GlossaryStore } from '../../src/ports/glossary-store.ts';

export interface GlossaryStoreHarness {
  readonly store: GlossaryStore;
  readonly close: () => Promise<void>;
}

const glossary = (glossaryId: string, target = 'Steckplatz'): Glossary => ({
  glossaryId,
  terms: [{ from: 'en', to: 'de', source: 'slot', target }],
  changedAt: 5,
});

export function glossaryStoreContract(name: string, open: () => Promise<GlossaryStoreHarness>): void {
  describe(`glossary store (${name})`, () => {
    let harness: GlossaryStoreHarness;
    const opened = async (): Promise<GlossaryStore> => {
      harness = await open();
      return harness.store;
    };
    afterEach(() => harness.close());

    it('reads what was stored last, as a whole', async () => {
      const store = await opened();
      expect(await store.get('t', 'a')).toBeUndefined();
      expect(await store.put('t', glossary('a', 'Schlitz'))).toBe('stored');
      expect(await store.put('t', glossary('a'))).toBe('stored');
      expect(await store.get('t', 'a')).toEqual(glossary('a'));
    });

    it('lists the ids of one tenant in order', async () => {
      const store = await opened();
      for (const id of ['b', 'a', 'b']) await store.put('t', glossary(id));
      await store.put('other', glossary('c'));
      expect(await store.list('t')).toEqual(['a', 'b']);
      expect(await store.list('nobody')).toEqual([]);
    });

    it('keeps the glossaries of tenants apart', async () => {
      const store = await opened();
      await store.put('t', glossary('a'));
      expect(await store.get('other', 'a')).toBeUndefined();
      expect(await store.remove('other', 'a')).toBe(false);
      expect(await store.get('t', 'a')).toEqual(glossary('a'));
    });

    it('removes one, once', async () => {
      const store = await opened();
      await store.put('t', glossary('a'));
      expect(await store.remove('t', 'a')).toBe(true);
      expect(await store.remove('t', 'a')).toBe(false);
      expect(await store.get('t', 'a')).toBeUndefined();
    });

    it('is full for a new one beyond the limit, not for a change (I11)', async () => {
      const store = await opened();
      for (let at = 0; at < MOST_GLOSSARIES; at += 1) await store.put('t', glossary(`g${at}`));
      expect(await store.put('t', glossary('one-more'))).toBe('full');
      expect(await store.put('t', glossary('g0', 'Schlitz'))).toBe('stored');
      expect(await store.list('t')).toHaveLength(MOST_GLOSSARIES);
      await store.remove('t', 'g1');
      expect(await store.put('t', glossary('one-more'))).toBe('stored');
    });
  });
}
