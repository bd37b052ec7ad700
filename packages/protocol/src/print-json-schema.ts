/** Prints docs/protocol.schema.json: every message and body as one JSON Schema document, for generators and validators. */
import { jsonSchemas } from './json-schemas.ts';

export function printJsonSchema(): string {
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Wire protocol of Lingua Scheduler',
    description:
      'Printed from the schemas in packages/protocol. Messages are named direction/type, HTTP bodies by their title. Parts with the $comment "extension" are optional and negotiated.',
    $defs: jsonSchemas(),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
