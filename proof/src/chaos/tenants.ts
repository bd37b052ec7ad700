/** The tenants of a run: each has a dedicated strict pool, nodes in it, and its own credentials, as a deployment would have them. */

export interface Tenant {
  /** Also the name of its pool. */
  readonly name: string;
  readonly clientToken: string;
  readonly nodeToken: string;
  /**
   * The extra language of the nodes of its pool; nodes without a socket can declare nothing else. So every node could do the work of
   * every tenant, and only the pools prevent it.
   */
  readonly language: string;
}

export const TENANTS: readonly Tenant[] = [
  {
    name: 'acme',
    clientToken: 'chaos-client-of-acme',
    nodeToken: 'chaos-nodes-of-acme',
    language: 'de',
  },
  {
    name: 'globex',
    clientToken: 'chaos-client-of-globex',
    nodeToken: 'chaos-nodes-of-globex',
    language: 'fr',
  },
];

/** For reading records and levels. */
export const OPERATOR_TOKEN = 'chaos-operator-of-all';

/** Its configuration, as tables that come after everything else. */
export const tenantSettings = (): string => `
[[server.tokens]]
token = "${OPERATOR_TOKEN}"
role = "operator"
${TENANTS.map(tokensOf).join('')}
[scheduler.pools]
enabled = true
strict_pool_eligibility = true
fallback_scan_all_pools = false
${TENANTS.map(poolOf).join('')}`;

const tokensOf = ({ name, clientToken, nodeToken }: Tenant, at: number): string => `
[[server.tokens]]
token = "${clientToken}"
role = "client"
tenant_id = "${name}"
[[server.tokens]]
token = "${nodeToken}"
role = "node"
name = "nodes of ${name}"
pool_ids = [${poolIdAt(at)}]
`;

const poolIdAt = (at: number): number => at + 1;

const poolOf = ({ name, language }: Tenant, at: number): string => `
[[scheduler.pools.pools]]
pool_id = ${poolIdAt(at)}
name = "${name}"
dedicated = true
[scheduler.pools.pools.language_requirements]
semantic_languages = ["${language}"]
[[scheduler.pools.tenant_overrides]]
tenant_id = "${name}"
pool_id = ${poolIdAt(at)}
`;
