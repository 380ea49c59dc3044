import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { type WorkInFlight } from './pressure-gate.js';

/** Work in flight in all roles, wherever they run. Each method is a cheap look-up. */
export interface Backlog extends WorkInFlight {
  /** Invocations that wait for a source. */
  waitingFor(sourceId: string): number;
  /** Emits of a source that are not yet routed. */
  unroutedOf(sourceId: string): number;
}

/** Reports of each role on its work. */
export interface LocalRoles {
  readonly worker: {
    readonly pressure: { ofSource(sourceId: string): number; ofWorkspace(workspaceId: string): number };
  };
  readonly router: Pick<Backlog, 'unroutedOf'>;
  readonly runner: Pick<Backlog, 'waitingFor'>;
}

/**
 * Counts the work in flight when every role is in this process. It exists before the roles, because router and runner
 * each need the backlog of the other. A role that is not bound yet counts as idle.
 */
export class LocalBacklog implements Backlog {
  private readonly roles: Partial<LocalRoles> = {};

  constructor(
    /** Unacknowledged records of runner and router. */
    private readonly handedOver: HandedOver,
    /** Bytes that wait for the disk. */
    private readonly queued: () => number,
  ) {}

  /** Adds roles that have started. */
  bind(roles: Partial<LocalRoles>): void {
    Object.assign(this.roles, roles);
  }

  waitingFor(sourceId: string): number {
    return this.roles.runner?.waitingFor(sourceId) ?? 0;
  }

  unroutedOf(sourceId: string): number {
    return this.roles.router?.unroutedOf(sourceId) ?? 0;
  }

  ofSource(sourceId: string): number {
    const logged = this.waitingFor(sourceId) + this.unroutedOf(sourceId);
    const deliveries = this.roles.worker?.pressure.ofSource(sourceId) ?? 0;
    return Math.max(logged, this.handedOver.recordsOf(sourceId)) + Math.floor(deliveries);
  }

  ofWorkspace(workspaceId: string): number {
    const deliveries = this.roles.worker?.pressure.ofWorkspace(workspaceId) ?? 0;
    return this.handedOver.recordsOfWorkspace(workspaceId) + Math.floor(deliveries);
  }

  sourcesOf(workspaceId: string): number {
    return this.handedOver.sourcesOf(workspaceId);
  }

  queuedBytes(): number {
    return this.queued();
  }
}
