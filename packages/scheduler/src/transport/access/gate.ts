/** Who may come in, and how much they may do. The contract; create-gate.ts implements it. */
import type { NodeId, TenantId } from '../../domain/ids.ts';

export type Role = 'node' | 'client' | 'operator';

/** A peer that has shown who it is. */
export interface Principal {
  /** What it acts as here, as asked of `admit`. */
  readonly role: Role;
  /** Every role it may act in, `role` included: operators may act in all. */
  readonly roles: ReadonlySet<Role>;
  /** The token's tenant; absent for anonymous peers, who name their own. */
  readonly tenantId?: TenantId;
  /** The only node ids a pinned node token may use. */
  readonly nodeIds?: readonly NodeId[];
  /** Digest of the token, or of the peer's address for anonymous ones: who a node_id belongs to. Never the token itself. */
  readonly credential: string;
  readonly isAnonymous: boolean;
}

export interface Peer {
  readonly address: string;
  /** From the Authorization header or, on sockets, ?token=. */
  readonly token?: string | undefined;
  readonly host?: string | undefined;
  readonly origin?: string;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly code: 'UNAUTHORIZED' | 'FORBIDDEN'; readonly message: string };

export type TenantChoice =
  | { readonly kind: 'tenant'; readonly tenantId: TenantId }
  /** The token's tenant wins; naming another is refused. */
  | { readonly kind: 'forbidden'; readonly message: string };

export interface Gate {
  /** `role`: what the peer wants to act as. */
  admit(peer: Peer, role: Role): Admission;
  tenantOf(principal: Principal, named: TenantId | undefined): TenantChoice;
  mayUseNode(principal: Principal, nodeId: NodeId): boolean;
  /**
   * Takes one from the request budgets of the tenant and of all; `limited` says for how long. Without a tenant (nodes have none)
   * only the budget of all is asked.
   */
  spend(
    tenantId: TenantId | undefined,
  ): { kind: 'ok' } | { kind: 'limited'; limit: 'tenant' | 'global'; retryAfterMs: number };
  /** The tenant's part alone, of a request that the budget of all has paid for before its tenant was known. */
  spendOfTenant(tenantId: TenantId): ReturnType<Gate['spend']>;
  /** Tenants whose requests are counted at the moment. */
  tenants(): number;
  /** Counts an open socket; `leave` gives it back. */
  enter(
    principal: Principal,
    address: string,
  ): { kind: 'entered'; leave: () => void } | { kind: 'full'; limit: string };
  /** A bucket for the messages of one connection. */
  openMeterFor(): { spend(): boolean };
}
