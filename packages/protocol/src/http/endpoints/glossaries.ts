/** Endpoints of tenants: their glossaries. */
import {
  GlossariesReply,
  GlossaryBody,
  GlossaryPath,
  GlossaryQuery,
  GlossaryRemoved,
  GlossaryStored,
  GlossaryView,
} from '../glossaries.ts';
import type { HttpEndpoint } from './endpoint.ts';

const COMMON = {
  tag: 'dispatch',
  roles: ['client'],
  extension: true,
  query: GlossaryQuery,
} as const;

const TERM = { src_lang: 'en', tgt_lang: 'de', source: 'slot', target: 'Steckplatz' };

export const GLOSSARY_ENDPOINTS: readonly HttpEndpoint[] = [
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/glossaries/:id',
    operationId: 'storeGlossary',
    summary: 'Store a glossary of the tenant; minted tokens may not',
    params: GlossaryPath,
    body: GlossaryBody,
    reply: GlossaryStored,
    errors: ['SCHEDULER_DEPENDENCY_DOWN'],
    example: { params: { id: 'example-glossary' }, body: { terms: [TERM] } },
  },
  {
    ...COMMON,
    method: 'GET',
    path: '/v1/glossaries',
    operationId: 'listGlossaries',
    summary: 'List the glossaries of the tenant',
    reply: GlossariesReply,
    errors: ['SCHEDULER_DEPENDENCY_DOWN'],
    example: {},
  },
  {
    ...COMMON,
    method: 'GET',
    path: '/v1/glossaries/:id',
    operationId: 'readGlossary',
    summary: 'Read a glossary of the tenant',
    params: GlossaryPath,
    reply: GlossaryView,
    errors: ['NOT_FOUND', 'SCHEDULER_DEPENDENCY_DOWN'],
    example: { params: { id: 'example-glossary' } },
  },
  {
    ...COMMON,
    method: 'DELETE',
    path: '/v1/glossaries/:id',
    operationId: 'removeGlossary',
    summary: 'Remove a glossary of the tenant; minted tokens may not',
    params: GlossaryPath,
    reply: GlossaryRemoved,
    errors: ['NOT_FOUND', 'SCHEDULER_DEPENDENCY_DOWN'],
    example: { params: { id: 'example-glossary' } },
  },
];
