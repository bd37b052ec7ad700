// The changelog of a release: the files of changelog/ and what stands under [Unreleased] become its section. Pure.

const TYPES = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
const UNRELEASED = '## [Unreleased]';

/** `fragments`: name and text of each file. Throws if one has a wrong name, or if nothing changed. */
export function releaseSection({ changelog, fragments, version, date }) {
  const start = changelog.indexOf(UNRELEASED);
  if (start < 0) throw new Error(`CHANGELOG.md has no line "${UNRELEASED}"`);
  const rest = changelog.slice(start + UNRELEASED.length);
  const end = rest.search(/^## \[/m);
  const [pending, older] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end)];
  const merged = merge(pending.trim(), fragments);
  if (merged === '') throw new Error('nothing changed: changelog/ has no file and [Unreleased] is empty');
  return `${changelog.slice(0, start)}${UNRELEASED}\n\n## [${version}] - ${date}\n\n${merged}\n${older === '' ? '' : `\n${older}`}`;
}

/** Each fragment becomes the last item under the heading of its type. */
function merge(pending, fragments) {
  const [intro, ...sections] = pending.split(/^### /m).map((part) => part.trim());
  const byHeading = new Map(sections.map((text) => [text.split('\n', 1)[0], text.replace(/^.*\n*/, '')]));
  for (const { name, text } of fragments) {
    const type = typeOf(name);
    const before = byHeading.get(type);
    byHeading.set(
      type,
      `${before === undefined ? '' : `${before}\n`}- ${text.trim().replaceAll(/\s+/g, ' ')}`,
    );
  }
  const rank = (heading) => (TYPES.includes(heading) ? TYPES.indexOf(heading) : TYPES.length);
  const ordered = [...byHeading].sort(([one], [other]) => rank(one) - rank(other));
  return [intro, ...ordered.map(([heading, text]) => `### ${heading}\n\n${text}`)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Throws if the name is none of a fragment. */
export function typeOf(name) {
  const type = TYPES.find((each) => name.startsWith(`${each.toLowerCase()}-`));
  if (type !== undefined && /^[a-z0-9-]+\.md$/.test(name)) return type;
  throw new Error(
    `changelog/${name}: the name must be TYPE-what-it-is.md with a TYPE of ${TYPES.join(', ').toLowerCase()}`,
  );
}
