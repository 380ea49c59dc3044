import { type AuditableResource } from './auditable.js';
import { type Clock } from './clock.js';
import { type IdPrefix } from './ids.js';
import { type LiveView } from './live-view.js';
import { type Projection } from './projection.js';
import { type Reactor } from './reactor.js';
import { type Upcaster } from './upcasting.js';

/**
 * Everything that a context adds to the roles. Each context declares it in its `context.ts`, and every role folds over
 * the one list of contexts (composition/contexts.ts). A function receives the ports that it names. Composition does not
 * compile until it provides them.
 */
export interface Context {
  /** Read models over the event log. */
  readonly projections?: readonly Projection[];
  /** Read models over the stream log, by their name in `sluice_lag`. `cleanUp` runs where the read model is owned. */
  readonly streamReadModels?: Readonly<Record<string, StreamReadModel>>;
  /** Tables in memory that several roles use. */
  readonly views?: (clock: Clock) => Readonly<Record<string, LiveView>>;
  /** Durable reactions to events, by the name of their lease. */
  readonly reactors?: Readonly<Record<string, (ports: never) => Reactor>>;
  /** Prefixes of the ids that the context creates and the API shows. id-kinds.ts has their texts. */
  readonly ids?: readonly IdPrefix[];
  /** Limits of what a user or a workspace may have, with their defaults. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Resources whose history `GET /v1/audit/{id}` shows. */
  readonly auditable?: readonly AuditableResource[];
  /** Categories of the streams whose events the workspace's audit log shows. */
  readonly workspaceAudit?: readonly string[];
  /**
   * Resources that keep a workspace from being empty: a noun, and the types of the events that create and delete one.
   */
  readonly holds?: Holding;
  /** Steps between versions of its events, by type. */
  readonly upcasters?: Readonly<Record<string, readonly Upcaster[]>>;
  /** Its routes and handlers, as a module of the API's framework. */
  readonly module?: (ports: never) => object;
}

export interface StreamReadModel {
  readonly projection: (ports: never) => { readonly name: string };
  /** @param projector of this read model. */
  readonly cleanUp: (ports: never, projector: never) => Reactor;
}

export interface Holding {
  readonly what: string;
  readonly from: string;
  readonly until: string;
}
