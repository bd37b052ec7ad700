/** Cold path: searches jobs, sessions and nodes of all instances. Bounded in time and in what is looked at. */
import type { FoundNode, FoundSession, JobSummary, SearchQuery, SearchReply } from '@lingua/protocol';
import type { Gather } from '../../../cluster/operators/gather.ts';
import type { JobFilter, JobOutcome } from '../../../domain/job-query.ts';
import { inSteps } from '../../../management/stats/count-part.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { FleetView } from '../../../runtime/fleet/fleet-view.ts';
import type { JobReader } from '../../../runtime/job-reader.ts';
import type { SessionService } from '../../../session/session-service.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { summarizeJob } from '../views/job-view.ts';
import { viewSession } from '../views/session-view.ts';
import { answerers } from './answerers.ts';
import type { NodeOrigin } from './node-rows.ts';

const LIMIT = 20;
/** Jobs are read in pages until enough are found or this time is over. */
const JOB_SEARCH_MS = 1_000;
const NODES_PER_SLICE = 500;
/** Sorting more would take longer than a slice may (I6): then these are some of the nodes, and the person names more of the id. */
const MAX_SORTED_NODES = 1_000;
/** Of each instance. */
const MAX_SESSION_PAGES = 20;

interface Found<Item> {
  readonly items: readonly Item[];
  readonly isMore: boolean;
}

interface SessionQuestion {
  readonly q: string;
  readonly tenantId?: string | undefined;
  readonly isConnected?: boolean | undefined;
  readonly limit: number;
}

export type Search = (query: SearchQuery) => Promise<SearchReply>;

export function createSearch(deps: {
  readonly clock: Clock;
  readonly fleet: Pick<FleetView, 'table' | 'view' | 'load'>;
  readonly originOf: (nodeId: string) => NodeOrigin;
  readonly reader: Pick<JobReader, 'get' | 'list'>;
  readonly sessions: Pick<SessionService, 'list'>;
  readonly gather: Gather;
}): Search {
  const { clock, fleet, reader, sessions } = deps;

  const gatherSessions = deps.gather('search_sessions', async (question: SessionQuestion) => {
    const { q, tenantId, isConnected, limit } = question;
    const items: Omit<FoundSession, 'instance_id'>[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_SESSION_PAGES; page += 1) {
      const read = sessions.list(omitUndefined({ tenantId, limit: limit + 1, cursor }));
      for (const session of read.sessions) {
        const isNamed = session.sessionId.startsWith(q) || session.tenantId.startsWith(q);
        if (isNamed && (isConnected === undefined || session.isConnected === isConnected))
          items.push(viewSession(session));
      }
      if (items.length > limit) return { items: items.slice(0, limit), isMore: true };
      if (read.cursor === undefined) return { items, isMore: false };
      cursor = read.cursor;
      // Another page, another slice (I6).
      await new Promise<void>((resolve) => clock.after(0, resolve));
    }
    return { items, isMore: true };
  });

  async function findSessions(query: SearchQuery, limit: number) {
    const { q = '', tenant_id: tenantId, connected: isConnected } = query;
    const gathered = await gatherSessions(omitUndefined({ q, tenantId, isConnected, limit }));
    const { parts } = gathered;
    const items = [...parts].flatMap(([instanceId, part]) =>
      part.items.map((session): FoundSession => ({ ...session, instance_id: instanceId })),
    );
    items.sort((a, b) => b.opened_at_ms - a.opened_at_ms);
    return {
      items: items.slice(0, limit),
      isMore: items.length > limit || [...parts.values()].some(({ isMore }) => isMore),
      ...answerers(gathered),
    };
  }

  async function findJobs(query: SearchQuery, limit: number): Promise<Found<JobSummary>> {
    const { q, tenant_id: tenantId, session_id: sessionId, node_id: nodeId, outcome, reason } = query;
    const filter: JobFilter = omitUndefined({
      tenantId,
      sessionId,
      nodeId,
      outcome: outcome as JobOutcome | undefined,
      reason,
      anyId: q === '' ? undefined : q,
    });
    const hasFilter = Object.keys(filter).some((name) => name !== 'anyId');
    // A whole id needs no list.
    const named = q === undefined || q === '' || hasFilter ? undefined : await reader.get(q);
    if (named !== undefined) return { items: [summarizeJob(named)], isMore: false };
    const endAt = clock.now() + JOB_SEARCH_MS;
    const items: JobSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.list(omitUndefined({ ...filter, limit: limit - items.length, cursor }));
      items.push(...page.jobs.map(summarizeJob));
      cursor = page.cursor;
    } while (cursor !== undefined && items.length < limit && clock.now() < endAt);
    return { items, isMore: cursor !== undefined };
  }

  function* findNodes(query: SearchQuery, limit: number): Generator<void, Found<FoundNode>> {
    const { q = '', status, region, version } = query;
    const found: FoundNode[] = [];
    for (const [at, nodeId] of fleet.table.columns.ids.entries()) {
      if (at > 0 && at % NODES_PER_SLICE === 0) yield;
      if (found.length >= MAX_SORTED_NODES) break;
      const view = nodeId === undefined ? undefined : fleet.view(nodeId);
      if (nodeId === undefined || view === undefined) continue;
      if (!nodeId.includes(q) || (status !== undefined && view.health !== status)) continue;
      const origin = deps.originOf(nodeId);
      if (region !== undefined && origin.region !== region) continue;
      if (version !== undefined && origin.version !== version) continue;
      const load = fleet.load(nodeId);
      found.push({
        node_id: nodeId,
        status: view.health,
        used_slots: load?.used ?? 0,
        max_concurrent_jobs: load?.max ?? view.slots,
        cordoned: view.isCordoned,
        instance_id: origin.instanceId,
        region: origin.region,
        version: origin.version,
      });
    }
    found.sort((a, b) => (a.node_id < b.node_id ? -1 : 1));
    return { items: found.slice(0, limit), isMore: found.length > limit };
  }

  return async (query) => {
    const { kind, limit = LIMIT } = query;
    const isMeant = (each: SearchQuery['kind']): boolean => kind === undefined || kind === each;
    const [jobs, found, nodes] = await Promise.all([
      isMeant('jobs') ? findJobs(query, limit) : NOTHING,
      isMeant('sessions') ? findSessions(query, limit) : { ...NOTHING, answered: [], unreachable: [] },
      isMeant('nodes') ? inSteps(findNodes(query, limit), clock) : NOTHING,
    ]);
    return {
      jobs: [...jobs.items],
      sessions: [...found.items],
      nodes: [...nodes.items],
      answered: [...found.answered],
      unreachable: [...found.unreachable],
      truncated: jobs.isMore || found.isMore || nodes.isMore,
    };
  };
}

const NOTHING = { items: [], isMore: false } as const;
