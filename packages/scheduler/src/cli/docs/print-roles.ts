/** Prints docs/roles.md from the roles and the endpoint table of the protocol. Pure. */
import {
  HTTP_ENDPOINTS,
  type HttpEndpoint,
  ROLE_NAMES,
  ROLES,
  type Role,
  rolesIn,
  speechFields,
} from '@lingua/protocol';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# Roles

Printed from \`packages/protocol/src/http\` (\`roles.ts\`, \`endpoints/\`); do not edit it, \`npm run docs\` writes it.

A token has one role, set in \`server.tokens\` ([config](config.md)). Without tokens, on a loopback address, every caller has every role.
With \`server.anonymous\`, callers of \`server.trusted_networks\` have the roles named there: \`session\` is the role client, and an
anonymous operator may not act as client or node.`;

const ENDPOINTS = `## Endpoints

"yes": may call it. "no texts": may call it, and the reply lacks the fields in the last column, which hold what people said.
A client sees only jobs of its tenant; a node acts only for node ids of its own credential. The sockets \`/ws/session\` and \`/ws/node\`
admit the roles client and node, and the roles that include them.`;

const OPEN = `## Without a role`;

export function printRoles(): string {
  const guarded = HTTP_ENDPOINTS.filter(({ roles }) => typeof roles !== 'string');
  const open = HTTP_ENDPOINTS.filter(({ roles }) => typeof roles === 'string');
  return page(
    INTRODUCTION,
    table(
      ['role', 'includes', 'what it is for'],
      ROLE_NAMES.map((role) => [code(role), ROLES[role].includes.map(code).join(', '), ROLES[role].doc]),
    ),
    ENDPOINTS,
    table(
      ['endpoint', ...ROLE_NAMES, 'hidden from viewers'],
      guarded.map((endpoint) => [
        nameOf(endpoint),
        ...ROLE_NAMES.map((role) => verdict(endpoint, role)),
        endpoint.roles.includes('viewer') ? speechFields(endpoint.reply).map(code).join(', ') : '',
      ]),
    ),
    OPEN,
    table(
      ['endpoint', 'who may call it'],
      open.map((endpoint) => [
        nameOf(endpoint),
        endpoint.roles === 'none'
          ? 'everybody'
          : 'the node that got the job, with the token of its audio_ref',
      ]),
    ),
  );
}

const nameOf = ({ method, path }: HttpEndpoint): string => code(`${method} ${path}`);

function verdict({ roles, reply }: HttpEndpoint, role: Role): string {
  const owned = rolesIn(role);
  if (![...roles].some((each) => owned.has(each as Role))) return '';
  return role === 'viewer' && speechFields(reply).length > 0 ? 'no texts' : 'yes';
}
