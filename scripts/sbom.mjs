// Prints the software bill of materials of a release: every production dependency, in the form CycloneDX. It reads package-lock.json.
// `npm sbom --omit dev` leaves out production packages that a development package needs, too: so all are asked for, and then filtered.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const printed = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 64 * 1024 * 1024,
});
const all = JSON.parse(printed.toString());

/** Packages of this repository that no release contains. */
const OWN_TOOLS = new Set(['simulation', 'generate-client']);
const isShipped = ({ name: component, properties }) =>
  !OWN_TOOLS.has(component) && !properties.some(({ name: property }) => property.endsWith(':development'));

/** npm names a package that replaces another (overrides in package.json) after the one that it replaces; its purl is right. */
const replaced = /^pkg:npm\/(empty-npm-package)@/;
const components = all.components
  .filter(isShipped)
  .map((component) => ({ ...component, name: replaced.exec(component.purl)?.[1] ?? component.name }));
const kept = new Set(components.map((component) => component['bom-ref']));
const top = all.metadata.component;
const dependencies = all.dependencies
  .filter(({ ref }) => kept.has(ref) || ref === top['bom-ref'])
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
// npm names it after the folder that it is in.
const metadata = { ...all.metadata, component: { ...top, name } };
console.log(JSON.stringify({ ...all, metadata, components, dependencies }, undefined, 2));
