/**
 * Port: the glossaries of tenants.
 *
 * The law: what was stored last under an id is what is read, as a whole. A tenant has at most `MOST_GLOSSARIES`; a new one beyond is `full`,
 * an existing one can always be replaced. Glossaries of one tenant are never those of another. They are kept until they are removed. A
 * thrown error means *unknown*; every call may be repeated with the same effect.
 */
import type { Glossary } from '../domain/glossary.ts';
import type { TenantId } from '../domain/ids.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';

export interface GlossaryStore {
  put(tenantId: TenantId, glossary: Glossary): MaybePromise<'stored' | 'full'>;
  get(tenantId: TenantId, glossaryId: string): MaybePromise<Glossary | undefined>;
  /** Their ids, in order. */
  list(tenantId: TenantId): MaybePromise<readonly string[]>;
  /** False: there is none. */
  remove(tenantId: TenantId, glossaryId: string): MaybePromise<boolean>;
}
