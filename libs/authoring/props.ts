import {
  type AnyValue,
  type DataStore,
  type Db,
  type HttpInterface,
  type HttpRequest,
  type TimerInterface,
} from './values.js';

/** What `this` has of a prop, by the word of its type. */
interface ValuesByType {
  string: string;
  'string[]': string[];
  integer: number;
  'integer[]': number[];
  boolean: boolean;
  'boolean[]': boolean[];
  object: Record<string, AnyValue>;
  any: AnyValue;
  sql: AnyValue;
  /** Path of the folder that the process may write to. */
  dir: string;
  data_store: DataStore;
  http_request: HttpRequest;
  alert: undefined;
  '$.interface.http': HttpInterface;
  '$.interface.timer': TimerInterface;
  '$.interface.apphook': undefined;
  '$.service.db': Db;
  '$.discord.channel': string;
  '$.discord.channel[]': string[];
}

export type PropType = keyof ValuesByType | `$.airtable.${string}`;

type Choice = string | number | boolean | { readonly label: string; readonly value: AnyValue };

interface PropFields {
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  readonly hidden?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  /** Of a `string`: encrypted at rest, and masked in replies and logs. */
  readonly secret?: boolean;
  readonly default?: AnyValue;
  readonly static?: AnyValue;
  readonly min?: number;
  readonly max?: number;
  /** A list, or a function that gives a page of it. */
  readonly options?: readonly Choice[] | ((given: AnyValue) => AnyValue);
  readonly useQuery?: boolean;
  /** `additionalProps` is called again when the value changes. */
  readonly reloadProps?: boolean;
  /** `this` has `{label, value}`. */
  readonly withLabel?: boolean;
  /** Of an HTTP interface: `respond` answers the caller. */
  readonly customResponse?: boolean;
  readonly appProp?: string;
  readonly eventNames?: readonly string[] | ((given: AnyValue) => AnyValue);
  readonly alertType?: string;
  readonly content?: string;
  readonly accessMode?: string;
  readonly sync?: boolean;
  readonly remote?: boolean;
}

interface TypedProp extends PropFields {
  readonly type: PropType;
}

/** A prop that takes its definition from an app, or from anything else with `propDefinitions`. */
interface InheritedProp extends PropFields {
  readonly propDefinition: readonly [from: object, name: string, values?: AnyValue];
  readonly type?: PropType;
}

/** An app: what `defineApp` returns, or an object of the same form. */
interface AppProp extends PropFields {
  readonly type: string;
  readonly app: string;
  readonly methods?: object;
  readonly propDefinitions?: object;
}

export type Prop = PropType | TypedProp | InheritedProp | AppProp;
export type Props = Readonly<Record<string, Prop>>;
/** Props that an app defines for the components that use it. */
export type PropDefinitions = Readonly<Record<string, TypedProp | InheritedProp>>;

/** What `this` has of props. */
export type PropValues<P> = { -readonly [K in keyof P]: PropValue<P[K]> };

export type PropValue<D> = D extends string
  ? ValueOfType<D>
  : D extends { readonly propDefinition: readonly [infer From, infer Name, ...unknown[]] }
    ? ValueOfDefinition<Omit<DefinitionIn<From, Name>, keyof D> & D>
    : ValueOfDefinition<D>;

type ValueOfDefinition<D> = D extends { readonly app: string }
  ? AppValue<D>
  : D extends { readonly type: infer T }
    ? (D extends { readonly withLabel: true } ? { label: string; value: ValueOfType<T> } : ValueOfType<T>) | Missing<D>
    : AnyValue;

type ValueOfType<T> = T extends keyof ValuesByType ? ValuesByType[T] : AnyValue;

/** Nobody must give a value for these. */
type Missing<D> = D extends { readonly default: NonNullable<AnyValue> }
  ? never
  : D extends { readonly optional: true } | { readonly hidden: true } | { readonly disabled: true }
    ? undefined
    : never;

type DefinitionIn<From, Name> = From extends { readonly propDefinitions?: infer Definitions }
  ? Name extends keyof NonNullable<Definitions>
    ? NonNullable<Definitions>[Name]
    : AnyValue
  : AnyValue;

/** Fields of the account. One that the account lacks is undefined. */
export interface AppAuth {
  $auth: Record<string, AnyValue>;
}

type AppValue<D> = AppAuth & (D extends { readonly methods?: infer M } ? (M extends object ? M : unknown) : unknown);

/** The interfaces among props. */
export type InterfacesOf<P> = {
  [K in keyof P]: P[K] extends `$.interface.${string}`
    ? P[K]
    : P[K] extends { readonly type: infer T extends `$.interface.${string}` }
      ? T
      : never;
}[keyof P];
