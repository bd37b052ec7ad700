/** The error a job handler throws to say why a job failed, with a code the scheduler understands. */

export class JobError extends Error {
  /** Such as MODEL_NOT_AVAILABLE or PROCESSING_ERROR; a code of the node's own is passed through. */
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JobError';
    this.code = code;
    this.details = details;
  }
}
