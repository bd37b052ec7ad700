/** Waits for a condition instead of a length of time. */
export { eventually } from '../../../../proof/src/eventually.ts';
