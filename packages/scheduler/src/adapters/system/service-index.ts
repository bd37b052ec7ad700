/** Reads the services from a ModelHub's `services_index.json`, for when the ModelHub does not answer. Cold path. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceHub } from '../../ports/service-hub.ts';

/** Limit for parsing JSON at once: it takes a few milliseconds (I6). */
const MAX_BYTES = 512 * 1024;

export function createServiceIndex(deps: {
  readonly folder: string;
  readonly maxBytes?: number;
}): ServiceHub {
  const { maxBytes = MAX_BYTES } = deps;
  const path = join(deps.folder, 'services_index.json');
  return {
    async list() {
      const file = await open(path).catch((fault: NodeJS.ErrnoException) => {
        throw new Error(`${path} could not be opened: ${fault.code ?? fault.message}`, { cause: fault });
      });
      try {
        // The limit also holds for a file that grows during the read or has no size.
        const buffer = Buffer.alloc(maxBytes + 1);
        let length = 0;
        for (let read = -1; read !== 0 && length <= maxBytes; length += read) {
          ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
        }
        if (length > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes`);
        return parse(buffer.toString('utf8', 0, length), path);
      } finally {
        await file.close();
      }
    },
  };
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (fault) {
    throw new Error(`${path} is no JSON`, { cause: fault });
  }
}
