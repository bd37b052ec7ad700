/** Hot path: the load that a script of the ledger answers with, after its word. */
import type { Load } from '../../../domain/lease.ts';
import type { Reply } from '../connection/script.ts';

export const loadOf = ([, used, max]: Reply): Load => ({ used: Number(used), max: Number(max) });
