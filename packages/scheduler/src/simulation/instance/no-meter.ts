/** Simulation: nobody looks at metrics here. */
import type { Meter } from '../../ports/meter.ts';

export const NO_METER: Meter = { count() {}, gauge() {}, observe() {} };
