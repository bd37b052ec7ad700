/** Types of changelog.mjs, for the tests. */
export function releaseSection(release: {
  readonly changelog: string;
  readonly fragments: readonly { readonly name: string; readonly text: string }[];
  readonly version: string;
  readonly date: string;
}): string;
export function typeOf(name: string): string;
