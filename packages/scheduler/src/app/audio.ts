/** Composition root: input audio on this instance: its store, and how nodes and other instances fetch it. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createAudioStore } from '../adapters/memory/audio-store.ts';
import type { Config } from '../config/settings.ts';
import type { Log } from '../ports/log.ts';
import { createAudioTokens } from '../transport/access/audio-tokens.ts';
import { audioBaseUrl, createAudioReferences } from '../transport/link/audio-references.ts';

/** `isSingleInstance`: no other instance has to reach this one. */
export function createInputAudio(deps: { config: Config; log: Log; isSingleInstance: boolean }) {
  const { config, log, isSingleInstance } = deps;
  const { audio } = config.scheduler;
  const store = createAudioStore({
    maxBytes: audio.max_bytes_total,
    maxBytesPerJob: audio.max_bytes_per_job,
  });
  const tokens = createAudioTokens({ secret: randomBytes(32) });
  const references = createAudioReferences({ tokens, inlineMaxBytes: audio.inline_max_bytes });
  return {
    store,
    tokens,
    references,
    /** Returns the address at which nodes and other instances reach this one, if they can. */
    serve(address: AddressInfo): string | undefined {
      const base = audioBaseUrl(config.server.advertise_url, address);
      if (base !== undefined) references.serveAt(base);
      else if (isSingleInstance) log.info({}, NO_AUDIO_BY_REFERENCE);
      else throw new Error(NO_ADDRESS_FOR_OTHERS);
      return base;
    },
  };
}

const NO_AUDIO_BY_REFERENCE =
  'audio goes to every node inline, because this instance has no address for nodes; set server.advertise_url';
const NO_ADDRESS_FOR_OTHERS = 'this instance has no address for other instances; set server.advertise_url';
