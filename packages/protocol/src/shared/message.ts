/** How every WebSocket message is declared: an object told apart by its `type`. */
import { type TProperties, Type } from 'typebox';

export const message = <const Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
) => Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description });

/** A message that only programs which negotiated it send or receive. */
export const extensionMessage = <const Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
) => Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description, extension: true });
