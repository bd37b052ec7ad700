/** Requests that wait: long polls and event streams. Each kind has its own budget; each wait ends when its client leaves or the server closes. */
import type { FastifyReply } from 'fastify';
import { DEFAULT_TENANT } from '../../../domain/ids.ts';
import type { Meter } from '../../../ports/meter.ts';
import type { Gate, LostRights, Principal } from '../../access/gate.ts';
import type { Refusal } from '../../wire/error-reply.ts';

/** `caller`: waits for a result. `stream`: follows a job. `poll`: a node waits for jobs. */
export const WAIT_KINDS = ['caller', 'stream', 'poll'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** On whose budget a request waits. */
export interface WaitOwner {
  /** The credential of a caller, or the id of a polling node. */
  readonly id: string;
  /** Nodes have none. */
  readonly tenantId?: string | undefined;
  readonly principal: Principal;
}

export interface Wait {
  readonly signal: AbortSignal;
  /** The credential expired or was revoked meanwhile: nothing more is sent to its owner than this. */
  refusal(): Refusal | undefined;
  end(): void;
}

export interface Waits {
  begin(
    kind: WaitKind,
    owner: WaitOwner,
    reply: FastifyReply,
  ):
    | { readonly kind: 'begun'; readonly wait: Wait }
    | { readonly kind: 'refused'; readonly refusal: Refusal };
  abortAll(): void;
  size(kind: WaitKind): number;
}

/** A client that does not pipeline has one wait on a connection. */
const MAX_PER_CONNECTION = 4;
/** A node polls with one request; a second one may overlap after a lost connection. */
const MAX_PER_NODE = 4;
/** Shares of the waits of a kind, so that one caller and one tenant leave room for others. */
const CREDENTIAL_SHARE = 1 / 4;
const TENANT_SHARE = 1 / 2;

/** `max`: of one kind. */
export function createWaits(deps: {
  max: number;
  meter: Pick<Meter, 'count'>;
  gate: Pick<Gate, 'hold'>;
}): Waits {
  const controllers = new Map<WaitKind, Set<AbortController>>(WAIT_KINDS.map((kind) => [kind, new Set()]));
  const counts = new Map<unknown, number>();
  let isOver = false;

  const ownerLimit = (kind: WaitKind) =>
    kind === 'poll' ? MAX_PER_NODE : Math.ceil(deps.max * CREDENTIAL_SHARE);

  /** What a wait is counted under, with the limit of each. Connections are objects, and so never equal a name. */
  function budgetsOf(kind: WaitKind, { id, tenantId }: WaitOwner, reply: FastifyReply): Budget[] {
    return [
      { limit: 'connection', key: reply.raw.req?.socket ?? reply, max: MAX_PER_CONNECTION },
      { limit: 'owner', key: `${kind} owner ${id}`, max: ownerLimit(kind) },
      { limit: 'tenant', key: `${kind} tenant ${tenantId}`, max: Math.ceil(deps.max * TENANT_SHARE) },
    ].slice(0, tenantId === undefined ? 2 : 3);
  }

  return {
    begin(kind, owner, reply) {
      const open = controllers.get(kind) ?? new Set();
      const budgets = budgetsOf(kind, owner, reply);
      const used =
        open.size >= deps.max
          ? { limit: 'total', max: deps.max }
          : budgets.find(({ key, max }) => (counts.get(key) ?? 0) >= max);
      if (used !== undefined) {
        deps.meter.count('scheduler_http_waits_refused_total', { kind, limit: used.limit });
        return { kind: 'refused', refusal: tooMany(used.limit, used.max) };
      }
      const controller = new AbortController();
      let lost: LostRights | undefined;
      const release = deps.gate.hold(owner.principal, (why) => {
        lost = why;
        controller.abort();
      });
      const leave = () => {
        if (!open.delete(controller)) return;
        release();
        for (const { key } of budgets) {
          const rest = (counts.get(key) ?? 1) - 1;
          if (rest > 0) counts.set(key, rest);
          else counts.delete(key);
        }
      };
      const abandon = () => {
        leave();
        controller.abort();
      };
      open.add(controller);
      for (const { key } of budgets) counts.set(key, (counts.get(key) ?? 0) + 1);
      // A closing server still answers running requests, but does not let them wait.
      if (isOver) controller.abort();
      // The connection, too: a pipelined reply that never had its turn emits no close.
      const emitters = [reply.raw, reply.raw.req?.socket];
      for (const emitter of emitters) emitter?.once('close', abandon);
      const wait = {
        signal: controller.signal,
        refusal: () => lost && LOST[lost],
        end() {
          leave();
          for (const emitter of emitters) emitter?.off('close', abandon);
        },
      };
      return { kind: 'begun', wait };
    },
    abortAll() {
      isOver = true;
      for (const open of controllers.values()) for (const controller of open) controller.abort();
    },
    size: (kind) => controllers.get(kind)?.size ?? 0,
  };
}

interface Budget {
  readonly limit: string;
  readonly key: unknown;
  readonly max: number;
}

const WHOSE: Readonly<Record<string, string>> = {
  connection: 'on this connection',
  owner: 'with this token, or of this node',
  tenant: 'of this tenant',
  total: 'on this instance',
};

/** The job has too many listeners. */
export const NO_LISTENER: Refusal = {
  code: 'RATE_LIMITED',
  detail: 'too many event streams follow jobs already',
  hint: 'Read the job instead, or try again after retry_after_ms.',
};

const LOST: Readonly<Record<LostRights, Refusal>> = {
  expired: { code: 'UNAUTHORIZED', detail: 'the token has expired while the request waited' },
  revoked: { code: 'UNAUTHORIZED', detail: 'the token was revoked while the request waited' },
};

/** A caller waits on the budget of its credential and of the tenant that it acts for. */
export const callerOf = (principal: Principal, tenantId = principal.tenantId): WaitOwner => ({
  id: principal.credential,
  tenantId: tenantId ?? DEFAULT_TENANT,
  principal,
});

const tooMany = (limit: string, max: number): Refusal => ({
  code: 'RATE_LIMITED',
  detail: `${max} requests are waiting already ${WHOSE[limit]}`,
  hint: 'Omit wait_ms, or try again after retry_after_ms.',
});
