/** Every document that is printed from the code: its path in the repository, and its printer. */
import { printJsonSchema, printProtocol, printPythonMessages, printPythonSchemas } from '@lingua/protocol';
import { printConfigDoc } from '../../config/print-config-doc.ts';
import { printConfigExample } from '../../config/print-config-example.ts';
import { buildAsyncApi } from '../../transport/docs/asyncapi.ts';
import { buildOpenApi } from '../../transport/docs/openapi.ts';
import { VERSION } from '../version.ts';
import { printAudit } from './print-audit.ts';
import { printCli } from './print-cli.ts';
import { printErrors } from './print-errors.ts';
import { printLimits } from './print-limits.ts';
import { printMetrics } from './print-metrics.ts';
import { printRedisKeys } from './print-redis-keys.ts';
import { printRoles } from './print-roles.ts';
import { printStateMachines } from './print-state-machines.ts';

export interface PrintedDocument {
  readonly path: string;
  print(): string | Promise<string>;
}

export const PRINTED_DOCUMENTS: readonly PrintedDocument[] = [
  { path: 'config.example.toml', print: printConfigExample },
  { path: 'docs/asyncapi.json', print: () => printJson(buildAsyncApi(VERSION)) },
  { path: 'docs/audit.md', print: printAudit },
  { path: 'docs/cli.md', print: printCli },
  { path: 'docs/config.md', print: printConfigDoc },
  { path: 'docs/errors.md', print: printErrors },
  { path: 'docs/limits.md', print: printLimits },
  { path: 'docs/metrics.md', print: printMetrics },
  { path: 'docs/openapi.json', print: () => printJson(buildOpenApi(VERSION)) },
  { path: 'docs/protocol.md', print: printProtocol },
  { path: 'docs/protocol.schema.json', print: printJsonSchema },
  { path: 'docs/redis-keys.md', print: printRedisKeys },
  { path: 'docs/roles.md', print: printRoles },
  { path: 'docs/state-machines.md', print: printStateMachines },
  { path: 'packages/python/src/lingua_node/messages.py', print: printPythonMessages },
  { path: 'packages/python/src/lingua_node/schemas.json', print: printPythonSchemas },
];

const printJson = (document: object): string => `${JSON.stringify(document, undefined, 2)}\n`;
