// Prints the software bill of materials of a release: every production dependency, as CycloneDX, or with the argument spdx as SPDX. It
// reads package-lock.json. With SOURCE_DATE_EPOCH it prints the same bytes each time.
// `npm sbom --omit dev` leaves out production packages that a development package needs, too: so all are asked for, and then filtered.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const { SOURCE_DATE_EPOCH: epoch } = process.env;
const created = new Date(epoch === undefined ? Date.now() : Number(epoch) * 1_000).toISOString();

/** Packages of this repository that no release contains. */
const OWN_TOOLS = new Set(['simulation', 'generate-client']);
const isShipped = ({ name: component, properties }) =>
  !OWN_TOOLS.has(component) && !properties.some(({ name: property }) => property.endsWith(':development'));

const all = ask('cyclonedx');
/** npm names a package that replaces another (overrides in package.json) after the one that it replaces; its purl is right. */
const REPLACING = /^pkg:npm\/(empty-npm-package)@/;
const nameOf = (given, purl) => REPLACING.exec(purl)?.[1] ?? given;
const components = all.components
  .filter(isShipped)
  .map((component) => ({ ...component, name: nameOf(component.name, component.purl) }));
const format = process.argv[2] ?? 'cyclonedx';
if (format !== 'cyclonedx' && format !== 'spdx') {
  console.error(`sbom: there is no format "${format}"; there are cyclonedx and spdx`);
  process.exit(2);
}
const bill = format === 'spdx' ? spdx() : cycloneDx();
console.log(JSON.stringify(bill, undefined, 2));

function ask(kind) {
  const printed = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', kind], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(printed.toString());
}

function cycloneDx() {
  const kept = new Set(components.map((component) => component['bom-ref']));
  const top = all.metadata.component;
  const dependencies = all.dependencies
    .filter(({ ref }) => kept.has(ref) || ref === top['bom-ref'])
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  // npm names it after the folder that it is in.
  const metadata = { ...all.metadata, timestamp: created, component: { ...top, name } };
  return { ...all, serialNumber: `urn:uuid:${idOf(components)}`, metadata, components, dependencies };
}

function spdx() {
  const given = ask('spdx');
  const shipped = new Set([...components, all.metadata.component].map(({ purl }) => purl));
  const purlOf = ({ externalRefs }) => externalRefs[0].referenceLocator;
  const packages = given.packages
    .filter((each) => shipped.has(purlOf(each)))
    .map((each) => ({ ...each, name: nameOf(each.name, purlOf(each)) }));
  const kept = new Set(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID: id }) => id)]);
  return {
    ...given,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${idOf(packages)}`,
    creationInfo: { ...given.creationInfo, created },
    packages,
    relationships: given.relationships.filter(
      ({ spdxElementId: from, relatedSpdxElement: to }) => kept.has(from) && kept.has(to),
    ),
  };
}

/** A UUID that depends on what it names, and not on chance. */
function idOf(content) {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
