/** Cold path: reads the hub's list of services. A malformed entry is skipped, the others are used. Pure. */

export interface ServiceVariant {
  readonly version: string;
  readonly platform: string;
  readonly artifact?: {
    readonly type?: string;
    readonly url?: string;
    readonly sha256?: string;
    readonly sizeBytes?: number;
  };
}

export interface CatalogueService {
  readonly serviceId: string;
  readonly name: string;
  readonly latestVersion: string;
  readonly variants: readonly ServiceVariant[];
}

export type ServiceList =
  | { readonly kind: 'list'; readonly entries: readonly unknown[] }
  | { readonly kind: 'no_list'; readonly reason: string };

export const MAX_SERVICES = 2_000;
const MAX_VARIANTS = 64;
const MAX_ID = 128;
const MAX_WORD = 256;
const MAX_URL = 2_048;

/** The hub answers with {services: […]}. A plain list and the index file, which maps ids to entries, are also accepted. */
export function findList(answer: unknown): ServiceList {
  if (Array.isArray(answer)) return { kind: 'list', entries: answer };
  if (!isObject(answer)) return { kind: 'no_list', reason: 'neither a list nor an object' };
  const { services } = answer;
  if (Array.isArray(services)) return { kind: 'list', entries: services };
  if (services !== undefined) return { kind: 'no_list', reason: '"services" is no list' };
  const entries = Object.values(answer);
  // An error answer is often an object, too; it has no service entries.
  if (entries.length === 0 || !entries.some(isEntryLike)) {
    return { kind: 'no_list', reason: 'an object without "services"' };
  }
  return { kind: 'list', entries };
}

/** Undefined: malformed. */
export function readService(entry: unknown): CatalogueService | undefined {
  if (!isObject(entry)) return undefined;
  const { service_id: serviceId, name, latest_version: latestVersion, variants = [] } = entry;
  if (!isWord(serviceId, MAX_ID) || !Array.isArray(variants)) return undefined;
  if (name !== undefined && !isWord(name, MAX_WORD)) return undefined;
  if (latestVersion !== undefined && !isWord(latestVersion, MAX_WORD)) return undefined;
  const read = variants.slice(0, MAX_VARIANTS).map(readVariant);
  const known = read.filter((variant) => variant !== undefined);
  if (known.length < read.length) return undefined;
  return { serviceId, name: name ?? serviceId, latestVersion: latestVersion ?? '', variants: known };
}

function readVariant(entry: unknown): ServiceVariant | undefined {
  if (!isObject(entry)) return undefined;
  const { version, platform, artifact } = entry;
  if (!isWord(version, MAX_WORD) || !isWord(platform, MAX_WORD)) return undefined;
  if (artifact === undefined || artifact === null) return { version, platform };
  if (!isObject(artifact)) return undefined;
  const { type, url, sha256, size_bytes: sizeBytes } = artifact;
  return {
    version,
    platform,
    artifact: {
      ...(isWord(type, MAX_WORD) && { type }),
      ...(isWord(url, MAX_URL) && { url }),
      ...(isWord(sha256, MAX_WORD) && { sha256 }),
      ...(typeof sizeBytes === 'number' && Number.isFinite(sizeBytes) && { sizeBytes }),
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEntryLike = (value: unknown): boolean => isObject(value) && 'service_id' in value;

const isWord = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= maxLength;
