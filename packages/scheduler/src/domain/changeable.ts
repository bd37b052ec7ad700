/** Types: for whoever makes something that all others only read. */
export type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };
