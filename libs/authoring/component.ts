import { type AppAuth, type InterfacesOf, type PropDefinitions, type Props, type PropValues } from './props.js';
import { type ActionEvent } from './step.js';
import { type AnyValue, type Emitter, type HttpEvent, type TimerEvent } from './values.js';

export type Methods = Readonly<Record<string, AnyValue>>;

/** `this` of a source. */
export type SourceThis<P, M> = PropValues<P> & M & Emitter;
/** `this` of an action. */
export type ActionThis<P, M> = PropValues<P> & M;
/** `this` of an app. */
export type AppThis<M> = M & AppAuth;

interface Described {
  readonly name?: string;
  /** Name by which the component is published. */
  readonly key?: string;
  readonly version?: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, AnyValue>>;
}

interface Configured<P extends Props, M extends Methods> extends Described {
  readonly props?: P;
  readonly methods?: M;
  /** Returns further props, which depend on the values of others. */
  additionalProps?(previous: Record<string, AnyValue>): Props | Promise<Props>;
}

export interface Source<P extends Props, M extends Methods> extends Configured<P, M> {
  readonly type?: 'source';
  /** Events that are dropped by their `id`. */
  readonly dedupe?: 'unique' | 'greatest' | 'last';
  readonly hooks?: {
    deploy?(): unknown;
    activate?(): unknown;
    deactivate?(): unknown;
  };
  /** The event of `sample_emit`. */
  readonly sampleEmit?: AnyValue;
  /** Runs for each event. A source with an interface may leave it out, and then emits each event as it came. */
  run?(event: EventOf<P>): unknown;
}

/** What interfaces give. What a source without one gets is what others emit. */
export type EventOf<P> = [InterfacesOf<P>] extends [never] ? AnyValue : EventOfInterface<InterfacesOf<P>>;

type EventOfInterface<T> = T extends '$.interface.http'
  ? HttpEvent
  : T extends '$.interface.timer'
    ? TimerEvent
    : AnyValue;

export interface Action<P extends Props, M extends Methods> extends Configured<P, M> {
  readonly type: 'action';
  run(event: ActionEvent): unknown;
}

export interface App<P extends PropDefinitions, M extends Methods> extends Described {
  readonly type: 'app';
  /** Slug of the app. */
  readonly app: string;
  readonly propDefinitions?: P;
  readonly methods?: M;
}
