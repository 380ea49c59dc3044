import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Revised, withRevision } from '#libs/kernel/with-revision.js';
import { type AccountEvent, type AccountUpdated, type OAuthGrant } from '../published.js';

export interface AccountDoc extends Revised {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly app: string;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
  /** Epoch ms. */
  readonly updatedAt: number;
  /** Absent for credentials that are never refreshed. Times in epoch ms. */
  readonly oauth?: {
    readonly expiresAt: number;
    readonly refreshAt: number;
    readonly refreshedAt: number | null;
    readonly error: string | null;
    /** Null when only new credentials help. */
    readonly retryAt: number | null;
  };
}

/** Every event, because each changes the revision. */
const EVENTS = {
  AccountConnected: true,
  AccountUpdated: true,
  AccountRefreshStarted: true,
  AccountRefreshed: true,
  AccountRefreshFailed: true,
  AccountCredentialsShown: true,
  AccountDisconnected: true,
} satisfies Record<AccountEvent['type'], true>;

export const accountsProjection = withRevision<AccountDoc>({
  name: 'accounts.accounts.v3',
  schema: {
    name: 'accounts.accounts.v3',
    indexed: ['workspaceId', 'userId', 'app'],
    sort: 'createdAt',
    counted: [['workspaceId'], ['userId'], ['userId', 'workspaceId']],
  },
  keys: ({ type, stream }) => (Object.hasOwn(EVENTS, type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & AccountEvent;
    switch (event.type) {
      case 'AccountConnected': {
        const { userId, name, app, connectedAt, oauth } = event.data;
        const times = { createdAt: String(connectedAt).padStart(15, '0'), updatedAt: connectedAt };
        const doc = { id, workspaceId: event.metadata.workspaceId, userId, name, app, ...times };
        return oauth === undefined ? doc : { ...doc, oauth: tokenOf(oauth) };
      }
      case 'AccountUpdated':
        return doc && updated(doc, event.data);
      case 'AccountRefreshed': {
        const { expiresAt, refreshAt, refreshedAt } = event.data;
        return doc && { ...doc, oauth: { ...tokenOf({ expiresAt, refreshAt }), refreshedAt } };
      }
      case 'AccountRefreshFailed': {
        const { reason: error, retryAt } = event.data;
        return doc?.oauth === undefined ? doc : { ...doc, oauth: { ...doc.oauth, error, retryAt } };
      }
      case 'AccountDisconnected':
        return undefined;
      default:
        return doc;
    }
  },
});

const tokenOf = ({ expiresAt, refreshAt }: Pick<OAuthGrant, 'expiresAt' | 'refreshAt'>) => ({
  expiresAt,
  refreshAt,
  refreshedAt: null,
  error: null,
  retryAt: null,
});

const updated = (doc: AccountDoc, { name, oauth, updatedAt }: AccountUpdated['data']): AccountDoc => {
  const changed = { ...doc, name, updatedAt };
  if (oauth === undefined) return changed;
  const { oauth: _, ...others } = changed;
  return oauth === null ? others : { ...others, oauth: tokenOf(oauth) };
};
