import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { type ErrorEmailsEvent } from '../published.js';

/** A source whose errors are sent by email. The id is that of the source. */
export interface ErrorEmailsDoc extends Doc {
  readonly workspaceId: string;
  readonly userId: string;
  /** Epoch milliseconds in fixed width. */
  readonly switchedOnAt: string;
}

type Folded = ErrorEmailsEvent | SourceEvent;
const TYPES: readonly Folded['type'][] = [
  'ErrorEmailsSwitchedOn',
  'ErrorEmailsSwitchedOff',
  'SourceDeleted',
  'SourceDeploymentFailed',
];

export const errorEmailsProjection: Projection<ErrorEmailsDoc> = {
  name: 'notifications.error_emails.v1',
  schema: { name: 'notifications.error_emails.v1', indexed: ['workspaceId'], sort: 'switchedOnAt' },
  keys: ({ type, stream }) => (TYPES.some((known) => known === type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & Folded;
    switch (event.type) {
      case 'ErrorEmailsSwitchedOn': {
        const { userId, switchedOnAt } = event.data;
        const { workspaceId } = event.metadata;
        return { id, workspaceId, userId, switchedOnAt: String(switchedOnAt).padStart(15, '0') };
      }
      case 'ErrorEmailsSwitchedOff':
      case 'SourceDeleted':
      case 'SourceDeploymentFailed':
        return undefined;
      default:
        return doc;
    }
  },
};
