/** The services of an index file: the law of a hub. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceIndex } from '../../../src/adapters/system/service-index.ts';
import { serviceHubContract } from '../../contracts/service-hub.ts';

const MAX_BYTES = 4_096;

serviceHubContract('services_index.json', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-index-'));
  const path = join(folder, 'services_index.json');
  return {
    hub: createServiceIndex({ folder, maxBytes: MAX_BYTES }),
    maxBytes: MAX_BYTES,
    offer: async (text) => writeFileSync(path, text),
    vanish: async () => rmSync(path, { force: true }),
    close: async () => rmSync(folder, { recursive: true }),
  };
});
