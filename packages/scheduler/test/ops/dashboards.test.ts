/** Dashboards: what Grafana needs to show them, and expressions that Prometheus understands. */
import { describe, expect, it } from 'vitest';
import { type Dashboard, expand, type Panel, readDashboards } from './ops-files.ts';
import { judgeExpressions } from './promtool.ts';

const dashboards = readDashboards();
/** Grafana's spelling of a variable. */
const CHOSEN_SOURCE = ['$', '{datasource}'].join('');
const graphs = ({ panels }: Dashboard): readonly Panel[] => panels.filter(({ type }) => type !== 'row');

it('there is one for jobs, nodes, instances, sessions and services each, with a name of its own', () => {
  expect(dashboards.map(({ file }) => file).sort()).toEqual([
    'cluster-and-redis.json',
    'nodes-and-pools.json',
    'overview.json',
    'services.json',
    'sessions.json',
  ]);
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
});

describe.each(dashboards)('the dashboard $file', (dashboard) => {
  it('has a schema, a data source to choose and instances to choose', () => {
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ]);
    expect(dashboard.tags).toContain('lingua');
  });

  it('has panels with ids, titles, units and legends of their own, all from the chosen source', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(graphs(dashboard).map(({ title }) => title)).size).toBe(graphs(dashboard).length);
    for (const { title, description, datasource, fieldConfig, targets = [] } of graphs(dashboard)) {
      expect([title, datasource?.uid]).toEqual([title, CHOSEN_SOURCE]);
      expect(description).toBeTruthy();
      expect(fieldConfig?.defaults.unit).toBeTruthy();
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      expect(new Set(targets.map(({ legendFormat }) => legendFormat)).size).toBe(targets.length);
      for (const { expr, legendFormat } of targets) {
        expect(legendFormat).not.toBe('');
        expect(expr).toContain('$instance');
      }
    }
  });

  it('lets no panel cover another or leave the page', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.get(`${x},${y}`) ?? title).toBe(title);
          taken.set(`${x},${y}`, title);
        }
      }
    }
  });

  it('asks what Prometheus understands', () => {
    const expressions = graphs(dashboard).flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => expand(expr)),
    );
    const { isFine, said } = judgeExpressions(expressions);
    expect(said).toContain(`${expressions.length} rules found`);
    expect(isFine).toBe(true);
  });
});
