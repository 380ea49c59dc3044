/** Forms that a value of a definition may have. Validation and the public JSON Schema are made of the same shapes. */
export type Shape =
  | {
      readonly kind: 'text';
      readonly min?: number;
      readonly max: number;
      readonly pattern?: RegExp;
      readonly not?: readonly string[];
    }
  | {
      readonly kind: 'integer';
      readonly min: number;
      readonly max: number;
      /** What sets the maximum, where the server does. */
      readonly maxIs?: string;
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'list'; readonly of: Shape; readonly max: number }
  /** An object with any keys. Without `of`, the values are any JSON. */
  | { readonly kind: 'map'; readonly of?: Shape; readonly maxKeys: number; readonly maxKey: number }
  | ObjectShape
  /** The first shape of the value's JSON type checks it. */
  | { readonly kind: 'either'; readonly of: readonly Shape[] }
  /** An object whose key `type` selects the shape. */
  | { readonly kind: 'tagged'; readonly of: Readonly<Record<string, Tagged>>; readonly untyped?: ObjectShape };

/** A text explains why a type is not available yet. */
export type Tagged = ObjectShape | string;

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Field>>;
}

export interface Field {
  readonly shape: Shape;
  readonly about: string;
  readonly required?: true;
  /** Null counts as absent. */
  readonly nullable?: true;
  readonly default?: unknown;
  /** Why no value is accepted yet. */
  readonly unsupported?: string;
}

export const text = (max: number, rules: Omit<Extract<Shape, { kind: 'text' }>, 'kind' | 'max'> = {}): Shape => ({
  kind: 'text',
  max,
  ...rules,
});
export const integer = (min: number, max: number): Shape => ({ kind: 'integer', min, max });
export const flag: Shape = { kind: 'flag' };
export const choice = (...of: readonly string[]): Shape => ({ kind: 'choice', of });
export const list = (of: Shape, max: number): Shape => ({ kind: 'list', of, max });
export const map = (maxKeys: number, maxKey: number, of?: Shape): Shape => ({
  kind: 'map',
  maxKeys,
  maxKey,
  ...(of === undefined ? {} : { of }),
});
export const object = (fields: ObjectShape['fields']): ObjectShape => ({ kind: 'object', fields });
