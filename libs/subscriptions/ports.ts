import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type EmitterKind } from './domain/triple.js';

/** Port of this context, which the composition root implements over the live views. */
export interface Resources {
  /** Finds a source (`dc_…`), webhook (`wh_…`) or workflow (`p_…`) that exists and is not deleted. */
  find(id: string): Resource | undefined;
}

export interface Resource {
  readonly workspaceId: string;
  readonly active: boolean;
}
export const RESOURCES = Symbol('Resources');

export interface EventsInRange {
  readonly count: number;
  /** Event ids of the oldest and newest; undefined when there is none. */
  readonly oldest: string | undefined;
  readonly newest: string | undefined;
}

/** Kept events, and the unsent rest of a replay. */
export interface Replays {
  /** Events of a channel from `startId` to `endId`, both included; an absent end is open. Throws event.invalid_id. */
  keptIn(emitterId: string, channel: string, startId?: string, endId?: string): Promise<EventsInRange>;
  /** Number of events of a subscription's replay that are not yet sent. */
  waiting(subscriptionId: string): Promise<number>;
}
export const REPLAYS = Symbol('Replays');

/** Throws emitter.not_found unless the caller may subscribe to such an emitter in the workspace of the context. */
export const mustBeEmitter = (
  resources: Resources,
  kind: EmitterKind,
  emitterId: string,
  { workspaceId, actor }: CommandContext,
): void => {
  switch (kind) {
    case 'glob':
      return;
    case 'workspace':
      if (emitterId !== workspaceId) throw notFound('emitter', emitterId);
      return;
    case 'user':
      if (emitterId !== actor.userId) throw notFound('emitter', emitterId);
      return;
    case 'resource':
      if (resources.find(emitterId)?.workspaceId !== workspaceId) throw notFound('emitter', emitterId);
  }
};

/** Throws listener.not_found unless the workspace has such a listener. */
export const mustBeListener = (resources: Resources, workspaceId: string, listenerId: string): void => {
  if (resources.find(listenerId)?.workspaceId !== workspaceId) throw notFound('listener', listenerId);
};

const KINDS = { dc_: 'source', wh_: 'webhook', p_: 'workflow' } as const;

/** Throws source.inactive, webhook.inactive or workflow.inactive: a listener that is inactive gets no event. */
export const mustBeActive = (resources: Resources, listenerId: string): void => {
  if (resources.find(listenerId)?.active !== false) return;
  const prefix = listenerId.slice(0, listenerId.indexOf('_') + 1) as keyof typeof KINDS;
  const kind = KINDS[prefix];
  throw new DomainError(
    `${kind}.inactive`,
    `${kind} ${listenerId}, the listener, is inactive and would get no event: enable it with PUT and active=true first`,
    { id: listenerId },
  );
};

export const notFound = (role: 'emitter' | 'listener', id: string): DomainError =>
  new DomainError(`${role}.not_found`, `${role}_id: there is no ${id} in this workspace`, {
    field: `${role}_id`,
    actual: id,
  });
