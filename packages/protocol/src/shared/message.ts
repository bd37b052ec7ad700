/** How every WebSocket message is declared: an object told apart by its `type`. */
import { type TProperties, type TSchema, Type } from 'typebox';

/** What any of the declared messages is, seen as a schema. */
export type MessageSchema = TSchema & { properties: { type: { const: string } } };

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
