/** The roles of tokens, and what a role includes: with the endpoint table, the whole of who may do what. */

export const ROLES = {
  client: { includes: [], doc: "Submits speech and reads the jobs of its token's tenant." },
  node: { includes: [], doc: 'Registers nodes, receives jobs and reports about them.' },
  metrics: { includes: [], doc: 'Reads `GET /metrics`, nothing else.' },
  viewer: {
    includes: ['metrics'],
    doc: 'Sees nodes, jobs, sessions and instances of all tenants, but never what people said.',
  },
  operator: {
    includes: ['viewer', 'metrics', 'client', 'node'],
    doc: 'Sees everything, commands nodes and sessions, and may act as client of any tenant and as any node.',
  },
  admin: {
    includes: ['operator', 'viewer', 'metrics', 'client', 'node'],
    doc: 'An operator who also makes and reloads tokens.',
  },
} as const satisfies Record<string, { includes: readonly string[]; doc: string }>;

export type Role = keyof typeof ROLES;

export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];

/** The role itself and every role that it includes. */
export const rolesIn = (role: Role): ReadonlySet<Role> => new Set<Role>([role, ...ROLES[role].includes]);

/**
 * The fields of a schema that hold what people said (`speech` in shared/bounded.ts), as paths like `result.text_asr`
 * or `items[].text`. They are removed from replies to viewers.
 */
export function speechFields(schema: object | undefined, path = ''): readonly string[] {
  if (schema === undefined) return [];
  const { speech, properties, items } = schema as {
    speech?: true;
    properties?: Record<string, object>;
    items?: object;
  };
  if (speech === true) return [path];
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, field]) =>
      speechFields(field, path === '' ? name : `${path}.${name}`),
    ),
    ...(items === undefined ? [] : speechFields(items, `${path}[]`)),
  ];
}
