/** Declares a WebSocket message: an object identified by its `type`. */
import { type TProperties, type TSchema, Type } from 'typebox';

/** Any declared message as a schema. */
export type MessageSchema = TSchema & { properties: { type: { const: string } } };

export const message = <const Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
) => Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description });

/** A message that only programs use which negotiated it. */
export const extensionMessage = <const Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
) => Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description, extension: true });
