/** Every node of the cluster: as blocks, and as a table that a keyboard and a screen reader can use. */
import { useMemo } from 'preact/hooks';
import { type FleetNode, type Health, healthOf } from '../data/fleet.ts';
import { fleet, fleetVersion } from '../data/live-feed.ts';
import { linkTo, route, setQuery } from '../shell/router.ts';
import { count } from '../show/format.ts';
import { Empty, NodeLink, Numeric, State, Table } from '../show/parts.tsx';
import { t } from '../texts/text.ts';
import { FleetCanvas } from './fleet-canvas.tsx';
import { GROUPINGS, type Grouping, matches } from './fleet-layout.ts';

const HEALTHS: readonly Health[] = [
  'ready',
  'full',
  'degraded',
  'ejected',
  'cordoned',
  'draining',
  'registering',
  'offline',
];
const ROWS = 50;

/** Shown if a node has them. */
const FURTHER: readonly (readonly [
  name: 'region' | 'version' | 'pools' | 'instance',
  (node: FleetNode) => string,
])[] = [
  ['region', ({ region, zone }) => [region, zone].filter((part) => part !== '').join(' / ')],
  ['version', ({ version }) => version],
  ['pools', ({ pools }) => pools.join(', ')],
  ['instance', ({ instance }) => instance],
];

export function Fleet() {
  const { query } = route.value;
  const words = query.get('q') ?? '';
  const health = query.get('health') ?? '';
  const asked = query.get('group') as Grouping | null;
  const grouping = asked !== null && GROUPINGS.includes(asked) ? asked : 'none';
  const version = fleetVersion.value;
  // The fleet is changed in place; its version says when.
  const nodes = useMemo(
    () => [...fleet.current.values()].filter((node) => matches(node, words, health)),
    [version, words, health],
  );
  const total = fleet.current.size;
  return (
    <>
      <h1>{t('nav.fleet')}</h1>
      <div class="filters">
        <input
          type="search"
          aria-label={t('fleet.search')}
          placeholder={t('fleet.search')}
          value={words}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <label>
          {t('fleet.group_by')}
          <select value={grouping} onChange={(event) => setQuery({ group: event.currentTarget.value })}>
            {GROUPINGS.map((name) => (
              <option key={name} value={name}>
                {t(`group.${name}`)}
              </option>
            ))}
          </select>
        </label>
        <Legend chosen={health} />
      </div>
      <p class="quiet" role="status">
        {t('fleet.shown', { shown: count(nodes.length), total: count(total) })}
      </p>
      {total === 0 ? (
        <Empty>{t('fleet.empty')}</Empty>
      ) : nodes.length === 0 ? (
        <Empty>{t('fleet.no_match')}</Empty>
      ) : (
        <>
          <FleetCanvas nodes={nodes} grouping={grouping} />
          <NodeTable nodes={nodes} page={Number(query.get('page') ?? '0')} />
        </>
      )}
    </>
  );
}

/** How many nodes are in each state; a state is also a filter. */
function Legend({ chosen }: { chosen: string }) {
  fleetVersion.value;
  const counts = new Map<Health, number>();
  for (const node of fleet.current.values())
    counts.set(healthOf(node), (counts.get(healthOf(node)) ?? 0) + 1);
  return (
    <fieldset class="legend" aria-label={t('group.health')}>
      {HEALTHS.filter((health) => counts.has(health) || health === chosen).map((health) => (
        <button
          key={health}
          type="button"
          aria-pressed={health === chosen}
          onClick={() => setQuery({ health: health === chosen ? '' : health, page: '' })}
        >
          <i class={`dot dot-${health}`} /> {t(`state.${health}`)} <b>{count(counts.get(health) ?? 0)}</b>
        </button>
      ))}
    </fieldset>
  );
}

function NodeTable({ nodes, page }: { nodes: readonly FleetNode[]; page: number }) {
  const sorted = useMemo(
    () => [...nodes].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
    [nodes],
  );
  const columns = useMemo(
    () => FURTHER.filter(([, read]) => nodes.some((node) => read(node) !== '')),
    [nodes],
  );
  const last = Math.max(0, Math.ceil(sorted.length / ROWS) - 1);
  const at = Math.min(last, Math.max(0, page));
  return (
    <section>
      <h2>{t('fleet.table')}</h2>
      <Table
        label={t('fleet.table')}
        head={[
          t('column.node'),
          t('column.state'),
          `#${t('column.slots')}`,
          ...columns.map(([name]) => t(`column.${name}`)),
        ]}
      >
        {sorted.slice(at * ROWS, (at + 1) * ROWS).map((node) => (
          <tr key={node.id}>
            <th scope="row">
              <NodeLink id={node.id} />
            </th>
            <td>
              <State of={healthOf(node)} />
              {node.orderReason !== '' && <span class="quiet"> {node.orderReason}</span>}
            </td>
            <Numeric>
              {node.used} / {node.slots}
            </Numeric>
            {columns.map(([name, read]) => (
              <td key={name}>{read(node)}</td>
            ))}
          </tr>
        ))}
      </Table>
      {last > 0 && (
        <p class="pager">
          <button type="button" disabled={at === 0} onClick={() => setQuery({ page: String(at - 1) })}>
            {t('action.previous')}
          </button>
          <span>{t('page.of', { page: at + 1, pages: last + 1 })}</span>
          <button type="button" disabled={at === last} onClick={() => setQuery({ page: String(at + 1) })}>
            {t('action.next')}
          </button>
        </p>
      )}
      <p class="quiet">
        <a href={linkTo('languages')}>{t('fleet.to_languages')}</a>
      </p>
    </section>
  );
}
