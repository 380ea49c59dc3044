import { createHash } from 'node:crypto';
import { type Decider } from '#libs/kernel/decider.js';
import { type WorkflowExternalIdEvent } from '../published.js';

export interface ExternalIdCommand {
  readonly type: 'reserve' | 'release';
  readonly externalId: string;
  readonly workflowId: string;
  readonly now: number;
}

/** The workflow that holds the external id, and since when. */
export type ExternalIdState = { readonly workflowId: string; readonly reservedAt: number } | undefined;

/** A hash, because an external id may hold a slash. */
export const externalIdStream = (workspaceId: string, externalId: string): string =>
  `${workspaceId}/${createHash('sha256').update(externalId).digest('hex')}`;

/** One stream per workspace and external id, so that concurrent commands never give it to two workflows. */
export const externalIdDecider: Decider<ExternalIdCommand, WorkflowExternalIdEvent, ExternalIdState> = {
  category: 'workflowexternalid',
  initialState: () => undefined,

  decide({ type, externalId, workflowId, now }, state) {
    switch (type) {
      case 'reserve':
        return state ? [] : [{ type: 'WorkflowExternalIdReserved', data: { externalId, workflowId, reservedAt: now } }];
      case 'release':
        return state?.workflowId === workflowId
          ? [{ type: 'WorkflowExternalIdReleased', data: { externalId, workflowId, releasedAt: now } }]
          : [];
    }
  },

  evolve: (_, event) =>
    event.type === 'WorkflowExternalIdReserved'
      ? { workflowId: event.data.workflowId, reservedAt: event.data.reservedAt }
      : undefined,
};
