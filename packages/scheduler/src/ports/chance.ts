/** Port: a random number in [0, 1). Seeded in tests and in the simulator. */
export type Chance = () => number;
