/** The error that a job handler throws to fail a job with a code that the scheduler understands. */

export class JobError extends Error {
  /** Such as MODEL_NOT_AVAILABLE or PROCESSING_ERROR; the scheduler passes other codes through. */
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JobError';
    this.code = code;
    this.details = details;
  }
}
