/** The service catalogue: stale while it is refreshed, and never emptied by a refresh that fails. */
import { describe, expect, it } from 'vitest';
import { entry, NEVER, startCatalogue } from './catalogue-rig.ts';

const LIST = { services: [entry('asr-1'), entry('nmt-1')] };
const AWAY = new Error('the hub could not be asked: ECONNREFUSED');

describe('the catalogue', () => {
  it('has the services of the hub and the time of the last refresh', async () => {
    const { catalogue, clock } = startCatalogue(LIST);
    const at = clock.now();
    await clock.advance(0);
    expect(catalogue.services()[0]).toEqual({
      serviceId: 'asr-1',
      name: 'Service asr-1',
      latestVersion: '1.2.0',
      variants: [
        {
          version: '1.2.0',
          platform: 'linux-x64',
          artifact: { type: 'zip', url: '/s/asr-1', sha256: 'ab', sizeBytes: 7 },
        },
      ],
    });
    expect(catalogue.state()).toMatchObject({
      source: 'hub',
      fetchedAt: at,
      lastSuccessAt: at,
      failCount: 0,
      lastError: undefined,
    });
    expect(catalogue.isHubDown()).toBe(false);
  });

  it('is refreshed every interval', async () => {
    const { hub, clock, ids } = startCatalogue(LIST);
    await clock.advance(0);
    hub.says = [entry('tts-9')];
    await clock.advance(29_999);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
    await clock.advance(1);
    expect(ids()).toEqual(['tts-9']);
  });

  it.each([
    ['the hub is away', AWAY],
    ['it answers with an object that is no list', { error: 'internal' }],
    ['it answers with an empty object', {}],
    ['its services are no list', { services: 'soon' }],
    ['it answers with null', null],
    ['it answers with a number', 7],
    ['no entry of it is well-formed', [1, 'x', {}]],
  ])('keeps what it has when %s', async (_, says) => {
    const { catalogue, hub, clock, ids, counts } = startCatalogue(LIST);
    await clock.advance(0);
    const succeededAt = clock.now();
    hub.says = says;
    await clock.advance(30_000);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
    expect(catalogue.state()).toMatchObject({
      failCount: 1,
      lastSuccessAt: succeededAt,
      fetchedAt: succeededAt + 30_000,
      lastError: expect.stringMatching(/./),
    });
    expect(catalogue.isHubDown()).toBe(true);
    expect(counts.get('scheduler_service_catalog_refresh_total failed')).toBe(1);
    hub.says = LIST;
    await clock.advance(30_000);
    expect(catalogue.state()).toMatchObject({ failCount: 0, lastError: undefined });
    expect(catalogue.isHubDown()).toBe(false);
  });

  it('accepts a well-formed empty list', async () => {
    for (const empty of [[], { services: [] }]) {
      const { catalogue, hub, clock } = startCatalogue(LIST);
      await clock.advance(0);
      hub.says = empty;
      await clock.advance(30_000);
      expect(catalogue.services()).toEqual([]);
      expect(catalogue.isHubDown()).toBe(false);
    }
  });

  it('is readable while the hub does not answer', async () => {
    const { hub, clock, ids } = startCatalogue(LIST);
    await clock.advance(0);
    hub.says = NEVER;
    await clock.advance(600_000);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
    expect(hub.asked).toBe(2);
  });

  it('skips and counts only the malformed entries of a list', async () => {
    const bad = [
      null,
      'x',
      [],
      {},
      { service_id: '' },
      { service_id: 7 },
      { service_id: 'x'.repeat(129) },
      { service_id: 'a', name: {} },
      { service_id: 'a', variants: 'none' },
      { service_id: 'a', variants: [{ version: '1' }] },
      { service_id: 'a', variants: [null] },
      { service_id: 'a', variants: [{ version: '1', platform: 'x', artifact: 'zip' }] },
      entry('asr-1'),
    ];
    const { clock, ids, counts } = startCatalogue({ services: [entry('asr-1'), ...bad, entry('tts-1')] });
    await clock.advance(0);
    expect(ids()).toEqual(['asr-1', 'tts-1']);
    expect(counts.get('scheduler_service_catalog_bad_entries_total')).toBe(bad.length);
  });

  it('accepts an entry with few fields', async () => {
    const { catalogue, clock } = startCatalogue([{ service_id: 'asr-1' }]);
    await clock.advance(0);
    expect(catalogue.services()).toEqual([
      { serviceId: 'asr-1', name: 'asr-1', latestVersion: '', variants: [] },
    ]);
  });

  it('I11 bounded: keeps 2,000 services and counts the others', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => entry(`s-${at}`));
    const { clock, ids, counts } = startCatalogue(many);
    await clock.advance(10);
    expect(ids()).toHaveLength(2_000);
    expect(counts.get('scheduler_service_catalog_bad_entries_total')).toBe(500);
  });

  it('I6: reads a long list in slices', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => entry(`s-${at}`));
    const { clock, ids } = startCatalogue(many);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    // More of it waits for the clock than fits between two timers.
    expect(clock.pending()).toBe(1);
    expect(ids()).toEqual([]);
    await clock.advance(10);
    expect(ids()).toHaveLength(1_000);
  });

  it('is empty without a hub and logs that once', async () => {
    const { catalogue, hub, clock, logged } = startCatalogue(LIST, undefined, { hasHub: false });
    await clock.advance(600_000);
    catalogue.refreshSoon();
    await clock.advance(600_000);
    expect(hub.asked).toBe(0);
    expect(catalogue.services()).toEqual([]);
    expect(catalogue.isHubDown()).toBe(false);
    expect(logged).toEqual([expect.stringContaining('model_hub.base_url')]);
  });

  it('sends no request after it was stopped', async () => {
    const { catalogue, hub, clock } = startCatalogue(LIST);
    await clock.advance(0);
    catalogue.stop();
    catalogue.refreshSoon();
    await clock.advance(600_000);
    expect(hub.asked).toBe(1);
    expect(clock.pending()).toBe(0);
  });
});

describe('the index file', () => {
  const INDEX = { 'asr-0': { ...entry('asr-0'), updated_at: 'x' } };

  it('is used until the first answer of the hub', async () => {
    const { catalogue, hub, clock, ids } = startCatalogue(AWAY, INDEX);
    await clock.advance(0);
    expect(ids()).toEqual(['asr-0']);
    expect(catalogue.state()).toMatchObject({ source: 'index', failCount: 1, lastSuccessAt: undefined });
    hub.says = LIST;
    await clock.advance(30_000);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
    hub.says = AWAY;
    await clock.advance(30_000);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
  });

  it('is used while the first answer of the hub is slow', async () => {
    const { clock, ids } = startCatalogue(NEVER, INDEX);
    await clock.advance(0);
    expect(ids()).toEqual(['asr-0']);
  });

  it('is read again as long as no services are known', async () => {
    const { index, clock, ids } = startCatalogue(AWAY, new Error('no file'));
    await clock.advance(0);
    expect(ids()).toEqual([]);
    index.says = INDEX;
    await clock.advance(30_000);
    expect(ids()).toEqual(['asr-0']);
  });

  it('works without a hub', async () => {
    const { clock, ids } = startCatalogue(LIST, INDEX, { hasHub: false });
    await clock.advance(0);
    expect(ids()).toEqual(['asr-0']);
  });

  it('is ignored if it is malformed', async () => {
    const { clock, ids, logged } = startCatalogue(LIST, 'garbage');
    await clock.advance(0);
    expect(ids()).toEqual(['asr-1', 'nmt-1']);
    expect(logged).toContain('cannot read services_index.json');
  });
});
