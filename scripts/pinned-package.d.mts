export function pinnedPackage(wanted: {
  readonly name: string;
  readonly version: string;
  /** SHA-512 of the tarball, in base64. */
  readonly digest: string;
  readonly files: readonly string[];
  readonly cache: string;
}): string;
