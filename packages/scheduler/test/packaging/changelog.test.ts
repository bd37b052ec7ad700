/** How the changelog of a release is put together. */
import { describe, expect, it } from 'vitest';
import { releaseSection, typeOf } from '../../../../scripts/changelog.mjs';

const CHANGELOG = `# Changelog

## [Unreleased]

A sentence.

### Added

- One.

### Known limits

- Slow.

## [0.1.0] - 2026-01-01

### Added

- All.
`;
const release = { version: '0.2.0', date: '2026-02-03' };

describe('the changelog of a release', () => {
  it('collects what is unreleased and each file under the heading of its type', () => {
    const fragments = [
      { name: 'added-two.md', text: 'Two,\nin two lines.\n' },
      { name: 'fixed-crash.md', text: 'Crash.' },
    ];
    expect(releaseSection({ changelog: CHANGELOG, fragments, ...release })).toBe(`# Changelog

## [Unreleased]

## [0.2.0] - 2026-02-03

A sentence.

### Added

- One.
- Two, in two lines.

### Fixed

- Crash.

### Known limits

- Slow.

## [0.1.0] - 2026-01-01

### Added

- All.
`);
  });

  it('refuses a release without changes, and a changelog without its heading', () => {
    const empty = '# Changelog\n\n## [Unreleased]\n';
    expect(() => releaseSection({ changelog: empty, fragments: [], ...release })).toThrow('nothing changed');
    expect(() => releaseSection({ changelog: '# x', fragments: [], ...release })).toThrow('no line');
  });

  it.each(['crash.md', 'fixed-crash.txt', 'Fixed-crash.md', 'fixed.md'])('refuses the name %s', (name) => {
    expect(() => typeOf(name)).toThrow('TYPE-what-it-is.md');
  });
});
