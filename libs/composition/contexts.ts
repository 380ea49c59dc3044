import { accountsContext } from '#libs/accounts/index.js';
import { actionsContext } from '#libs/actions/index.js';
import { auditContext, workspaceAuditProjection } from '#libs/audit/index.js';
import { componentsContext } from '#libs/components/index.js';
import { dataStoresContext } from '#libs/data-stores/index.js';
import { eventsContext } from '#libs/events/index.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { notificationsContext } from '#libs/notifications/index.js';
import { overviewContext } from '#libs/overview/index.js';
import { platformEventsContext } from '#libs/platform-events/context.js';
import { routingContext } from '#libs/routing/context.js';
import { sourcesContext } from '#libs/sources/index.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { type StreamProjector } from '#libs/stream-log/stream-projector.js';
import { subscriptionsContext } from '#libs/subscriptions/index.js';
import { tenancyContext } from '#libs/tenancy/index.js';
import { toolsContext } from '#libs/tools/index.js';
import { variablesContext } from '#libs/variables/index.js';
import { webhooksContext } from '#libs/webhooks/index.js';
import { workflowHistoryContext } from '#libs/workflow-history/index.js';
import { workflowsContext } from '#libs/workflows/index.js';

/** Every context, in the only list. The functions below select what a role needs. */
export const contexts = [
  tenancyContext,
  componentsContext,
  sourcesContext,
  subscriptionsContext,
  webhooksContext,
  dataStoresContext,
  accountsContext,
  variablesContext,
  notificationsContext,
  actionsContext,
  workflowsContext,
  workflowHistoryContext,
  toolsContext,
  eventsContext,
  auditContext,
  overviewContext,
  routingContext,
  platformEventsContext,
] as const;

type Listed = (typeof contexts)[number];
type Part<K extends keyof Context> = Extract<Listed, Readonly<Record<K, unknown>>>[K];
type ValuesOf<U> = U extends unknown ? U[keyof U] : never;
type PortsOf<F> = F extends () => unknown
  ? never
  : F extends (ports: infer P, ...others: never[]) => unknown
    ? P
    : never;
type All<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

/** All ports that the contexts require. */
export type ModulePorts = All<PortsOf<Part<'module'>>>;
export type ReactorPorts = All<PortsOf<ValuesOf<Part<'reactors'>>>>;
type StreamPart = ValuesOf<Part<'streamReadModels'>>;
type ProjectionPorts = All<PortsOf<StreamPart['projection']>>;
export type CleanUpPorts = All<PortsOf<StreamPart['cleanUp']>>;

const described: readonly Context[] = contexts;

/** Categories of the streams whose events the audit log of their workspace shows. */
export const auditedCategories: readonly string[] = described.flatMap(({ workspaceAudit = [] }) => workspaceAudit);

/** Every read model over the event log; `sluice rebuild` rebuilds the same ones. */
export const projections: readonly Projection[] = [
  ...described.flatMap((context) => context.projections ?? []),
  workspaceAuditProjection(auditedCategories),
];

/** The durable reactions, by the name of their lease. Those that clean up a stream read model belong to it. */
export const reactorsOf = (ports: ReactorPorts): Readonly<Record<string, () => Reactor>> =>
  Object.fromEntries(
    described.flatMap(({ reactors = {} }) =>
      Object.entries(reactors).map(([name, make]) => [name, () => make(ports as never)]),
    ),
  );

export interface StreamReadModel {
  /** In `sluice_lag`. */
  readonly name: keyof All<Part<'streamReadModels'>>;
  readonly projection: StreamProjection;
  readonly cleanUp: (ports: CleanUpPorts, projector: StreamProjector) => Reactor;
}

/** Every read model over the stream log. */
export const streamReadModelsOf = (ports: ProjectionPorts): readonly StreamReadModel[] =>
  described.flatMap(({ streamReadModels = {} }) =>
    Object.entries(streamReadModels).map(([name, { projection, cleanUp }]) => ({
      name: name as StreamReadModel['name'],
      projection: projection(ports as never) as StreamProjection,
      cleanUp: (...given) => cleanUp(...(given as [never, never])),
    })),
  );

/**
 * Creates the in-memory tables that several roles use, fed by one reader of the event log (docs/adr/0007). `own`: further
 * tables of this process, such as that of a router.
 */
export const makeViews = (clock: Clock, own: readonly LiveView[] = []) => {
  const made: Record<string, LiveView> = Object.fromEntries(
    described.flatMap(({ views }) => Object.entries(views?.(clock) ?? {})),
  );
  const views = made as unknown as All<ReturnType<Part<'views'>>>;
  /** Resources that may emit or listen. */
  const resources = {
    find: (id: string) => {
      if (id.startsWith('wh_')) return views.webhooks.find(id);
      return id.startsWith('p_') ? views.workflows.find(id) : views.sources.find(id);
    },
  };
  return { ...views, resources, all: [...Object.values(made), ...own] };
};

export type Views = ReturnType<typeof makeViews>;

export const makeUpcasters = (): Upcasters =>
  described
    .flatMap(({ upcasters = {} }) => Object.entries(upcasters))
    .reduce((all, [type, steps]) => all.register(type, steps), new Upcasters());

/** Kinds of resources whose history `GET /v1/audit/{id}` shows. */
export const auditable = described.flatMap((context) => context.auditable ?? []);

/** Resources that keep a workspace from being empty. */
export const holdings = described.flatMap(({ holds }) => holds ?? []);

export const resourceLimits = Object.assign({}, ...described.map(({ limits }) => limits)) as All<Part<'limits'>>;

/** The modules of the API. */
export const modulesOf = (ports: ModulePorts) =>
  contexts.flatMap((context) => ('module' in context ? [context.module(ports)] : []));
