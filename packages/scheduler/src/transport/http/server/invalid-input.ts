/** An input that did not pass validation, on its way through Fastify to the error handler. */
import type { Problem } from '@lingua/protocol';

export class InvalidInput extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = 'InvalidInput';
    this.problem = problem;
  }
}
