import { Inject, Injectable } from '@nestjs/common';
import { type Caller } from '#libs/http/callers.js';
import { externalIdIn } from '#libs/http/workflow-in-path.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { EVENT_STORE } from '#libs/kernel/tokens.js';
import { workflowDecider, workflowNotFound } from './domain/workflow.js';
import { ExternalIds } from './external-ids.js';

export interface LocatedWorkflow {
  readonly workflowId: string;
  readonly workspaceId: string;
}

/** Finds the workflow that a path names, in the log, so that it can be changed right after its creation. */
@Injectable()
export class LocateWorkflow {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly externalIds: ExternalIds,
  ) {}

  /** Throws workflow.not_found, also for one of another workspace, and workspace.required for an external id. */
  async locate(w: string, caller: Caller): Promise<LocatedWorkflow> {
    const located = await this.find(w, caller);
    if (!located) throw workflowNotFound(w);
    return located;
  }

  async find(w: string, caller: Caller): Promise<LocatedWorkflow | undefined> {
    const externalId = externalIdIn(w);
    if (externalId !== undefined) {
      const workspaceId = workspaceOf(caller);
      const workflowId = await this.externalIds.find(externalId, workspaceId);
      return workflowId === undefined ? undefined : { workflowId, workspaceId };
    }
    if (!isIdOf('p', w)) return undefined;
    for await (const { metadata } of this.store.read(streamName(workflowDecider.category, w), { limit: 1 }))
      if (caller.workspaceIds.includes(metadata.workspaceId))
        return { workflowId: w, workspaceId: metadata.workspaceId };
    return undefined;
  }
}
