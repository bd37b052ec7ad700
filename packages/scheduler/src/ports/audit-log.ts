/**
 * Port: the audit log: who did what, apart from the log. `record` neither throws nor waits. Events are kept in their order and never
 * changed; the adapter adds the time and the instance, and counts the events that it could not write.
 */

export interface AuditEvent {
  /** The operationId of the endpoint, or one of AUDIT_ACTIONS (domain/audit-actions.ts). */
  readonly action: string;
  /** `refused`: the caller may not do it, or named something that does not exist; `failed`: the scheduler could not do it. */
  readonly result: 'done' | 'refused' | 'failed';
  /** The name of the token, a digest of a token without a name, `anonymous`, or `signal`. Never the token. */
  readonly who: string;
  /** The address of the caller. */
  readonly from?: string | undefined;
  /** The id of what it was done to. */
  readonly target?: string | undefined;
  /** Never contains what people said. */
  readonly details?: Readonly<Record<string, string | number | boolean | undefined>>;
}

export interface AuditLog {
  record(event: AuditEvent): void;
}
