/** Waits for a condition instead of a duration. */
export { eventually } from '../../../../proof/src/eventually.ts';
