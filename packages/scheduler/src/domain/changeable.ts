/** Types: for the owner of an object that all others only read. */
export type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };
