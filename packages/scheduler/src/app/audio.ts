/** Composition root: input audio on this instance: its store, and how nodes and other instances fetch it. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createAudioFetcher } from '../adapters/http/audio-fetcher.ts';
import { createAudioStore } from '../adapters/memory/audio-store.ts';
import { readKeyFile } from '../adapters/system/key-file.ts';
import type { Config } from '../config/settings.ts';
import type { Log } from '../ports/log.ts';
import { createAudioTokens } from '../transport/access/audio-tokens.ts';
import { createInstanceSignature } from '../transport/access/instance-signature.ts';
import { audioBaseUrl, createAudioReferences } from '../transport/link/audio-references.ts';
import { linkSettings } from './settings/settings-from-config.ts';
import { tenantShare } from './settings/tenancy.ts';

/** `isSingleInstance`: no other instance has to reach this one. */
export function createInputAudio(deps: {
  config: Config;
  log: Log;
  instanceId: string;
  isSingleInstance: boolean;
  /** Authorities to trust when audio is fetched; undefined: those of the system. */
  ca: () => string | undefined;
  /** The time of the store: the clocks of two instances may differ. */
  now: () => number;
}) {
  const { config, log, instanceId, isSingleInstance, now } = deps;
  const { audio } = config.scheduler;
  const store = createAudioStore({
    maxBytes: audio.max_bytes_total,
    maxBytesPerJob: audio.max_bytes_per_job,
    tenantShare: tenantShare(config),
  });
  const keys = readClusterKeys(config, log);
  const tokens = createAudioTokens({
    secrets: keys ?? [randomBytes(32)],
    isShared: isSingleInstance || keys !== undefined,
    ttlMs: linkSettings(config).committedMs,
    now,
  });
  const signature = keys && createInstanceSignature({ secrets: keys, instanceId, now, newNonce: randomUUID });
  const references = createAudioReferences({ tokens, inlineMaxBytes: audio.inline_max_bytes });
  return {
    store,
    tokens,
    references,
    signature,
    fetcher: createAudioFetcher({ sign: signature?.sign, ca: deps.ca }),
    /** Returns the address at which nodes and other instances reach this one, if they can. */
    serve(address: AddressInfo): string | undefined {
      const base = audioBaseUrl(
        config.server.advertise_url,
        address,
        config.server.tls.cert_file !== undefined,
      );
      if (base !== undefined) references.serveAt(base);
      else if (isSingleInstance) log.info({}, NO_AUDIO_BY_REFERENCE);
      else throw new Error(NO_ADDRESS_FOR_OTHERS);
      return base;
    },
  };
}

function readClusterKeys({ scheduler }: Config, log: Log): [Buffer, ...Buffer[]] | undefined {
  const keys = readKeyFile('scheduler.cluster.cluster_key_file', scheduler.cluster.cluster_key_file, log);
  if (keys === undefined) return undefined;
  const [first, ...others] = keys;
  return [first.secret, ...others.map(({ secret }) => secret)];
}

const NO_AUDIO_BY_REFERENCE =
  'audio goes to every node inline, because this instance has no address for nodes; set server.advertise_url';
const NO_ADDRESS_FOR_OTHERS = 'this instance has no address for other instances; set server.advertise_url';
