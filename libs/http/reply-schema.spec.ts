import { describe, expect, it } from '@jest/globals';
import { type Changed } from './changed.js';
import { Operation } from './operation.js';
import { one } from './replies.js';
import {
  allNamed,
  anyJson,
  anyOf,
  integer,
  listOf,
  named,
  nullable,
  object,
  oneOf,
  optional,
  recordOf,
  text,
  type FieldsOf,
  type Schema,
  type TypeOf,
} from './reply-schema.js';

const Inner = named('Inner', { kind: oneOf(['a', 'b']) });
const Outer = named('Outer', {
  id: text('An id'),
  note: optional(nullable(text())),
  inner: listOf(Inner),
  counts: recordOf(integer()),
  any: optional(anyJson()),
  sum: anyOf(integer(), text()),
});

describe('a reply schema', () => {
  it('is the JSON Schema of its fields, and refers to what is named', () => {
    expect(Outer.json).toEqual({ $ref: '#/components/schemas/Outer' });
    expect(Object.fromEntries(allNamed([one(Outer)]))).toEqual({
      Inner: { type: 'object', required: ['kind'], properties: { kind: { type: 'string', enum: ['a', 'b'] } } },
      Outer: {
        type: 'object',
        required: ['id', 'inner', 'counts', 'sum'],
        properties: {
          id: { type: 'string', description: 'An id' },
          note: { type: ['string', 'null'] },
          inner: { type: 'array', items: { $ref: '#/components/schemas/Inner' } },
          counts: { type: 'object', additionalProperties: { type: 'integer' } },
          any: {},
          sum: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
        },
      },
    });
  });

  it('has null as a type, in its enum, and beside what it refers to', () => {
    const isNull = { type: 'null' };
    expect(nullable(oneOf(['a'])).json).toEqual({ type: ['string', 'null'], enum: ['a', null] });
    expect(nullable(Inner).json).toEqual({ anyOf: [Inner.json, isNull] });
    expect(nullable(anyOf(integer(), text())).json.anyOf).toEqual([{ type: 'integer' }, { type: 'string' }, isNull]);
    expect(nullable(anyJson()).json).toEqual({});
  });

  it('refuses two schemas of one name', () => {
    expect(() => allNamed([Inner, named('Inner', { other: text() })])).toThrow('two schemas are named Inner');
    expect(allNamed([Inner, Outer]).size).toBe(2);
  });
});

// What follows is checked by the compiler alone (`npm run typecheck`): each `ts-expect-error` must be an error.

interface Declared {
  readonly id: string;
  readonly note?: string;
}
object({ id: text(), note: optional(text()) } satisfies FieldsOf<Declared>);
// @ts-expect-error An undescribed field.
object({ id: text() } satisfies FieldsOf<Declared>);
// @ts-expect-error A field that the type does not have.
object({ id: text(), note: optional(text()), more: text() } satisfies FieldsOf<Declared>);
// @ts-expect-error A field of another type.
object({ id: integer(), note: optional(text()) } satisfies FieldsOf<Declared>);
// @ts-expect-error A field that may be absent but is described as required.
object({ id: text(), note: text() } satisfies FieldsOf<Declared>);

text() satisfies Schema<string>;
// @ts-expect-error A schema of a narrower type.
text() satisfies Schema<string | null>;

type Inner = TypeOf<typeof Inner>;

export class Routes {
  @Operation({ summary: 'Right', reply: one(Inner) })
  right(): Promise<Changed<{ data: Inner }>> {
    throw new Error();
  }

  // @ts-expect-error The reply lacks a field of the schema.
  @Operation({ summary: 'Lacks a field', reply: one(Outer) })
  lacking(): Promise<{ data: Inner }> {
    throw new Error();
  }

  // @ts-expect-error The reply has no schema.
  @Operation({ summary: 'Not described' })
  undescribed(): { data: Inner } {
    throw new Error();
  }

  // @ts-expect-error The reply has a field that the schema lacks.
  @Operation({ summary: 'Has more', reply: one(Inner) })
  more(): { data: Inner & { more: string } } {
    throw new Error();
  }

  @Operation({ summary: 'Always fails' })
  never(): never {
    throw new Error();
  }

  // @ts-expect-error The value is not one of the enum.
  @Operation({ summary: 'Another value', reply: one(Inner) })
  another(): { data: { kind: string } } {
    throw new Error();
  }
}
