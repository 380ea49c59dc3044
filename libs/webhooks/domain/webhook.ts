import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type WebhookEvent, type WebhookRules } from '../published.js';
import { checkWebhookUrl } from './webhook-url.js';

export type WebhookCommand =
  | {
      readonly type: 'create';
      readonly webhookId: string;
      readonly userId: string;
      readonly name: string | null;
      readonly description: string | null;
      readonly url: string;
      readonly signingKeyRef: string;
      readonly rules: WebhookRules;
      readonly now: number;
    }
  | {
      readonly type: 'update';
      /** Changed fields. An absent one stays as it is. */
      readonly changes: {
        readonly name?: string | null;
        readonly description?: string | null;
        readonly url?: string;
        readonly active?: boolean;
        readonly rules?: Partial<WebhookRules>;
      };
      readonly now: number;
    }
  | { readonly type: 'disable'; readonly reason: string; readonly now: number }
  | { readonly type: 'regenerate_signing_key'; readonly signingKeyRef: string; readonly now: number }
  | { readonly type: 'delete'; readonly now: number };

export interface ExistingWebhook {
  readonly status: 'exists';
  readonly id: string;
  readonly userId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly active: boolean;
  /** Reason why the platform stopped delivering; null when it did not. */
  readonly disabledReason: string | null;
  readonly rules: WebhookRules;
  readonly signingKeyRef: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type WebhookState = ExistingWebhook | { readonly status: 'none' } | { readonly status: 'deleted' };

/** Error for a request that would send to an inactive webhook, to which nothing is sent. */
export const webhookInactive = (id: string, disabledReason: string | null): DomainError =>
  new DomainError(
    'webhook.inactive',
    `webhook ${id} is inactive${disabledReason === null ? '' : ` (${disabledReason})`}: enable it with PUT and active=true first`,
    { id },
  );

/** Time that a replaced signing key stays valid beside the new one. */
export const FORMER_KEY_VALID_MS = 24 * 3_600_000;

export const webhook: Decider<WebhookCommand, WebhookEvent, WebhookState> = {
  category: 'webhook',
  initialState: () => ({ status: 'none' }),

  decide(command, state): WebhookEvent[] {
    if (command.type === 'create') {
      // Ids are never reused, so an existing webhook means that this command was already handled.
      if (state.status !== 'none') return [];
      const { webhookId, userId, name, description, signingKeyRef, rules, now } = command;
      const url = checkWebhookUrl(command.url);
      const data = { webhookId, userId, name, description, url, signingKeyRef, rules, createdAt: now };
      return [{ type: 'WebhookCreated', data }];
    }
    if (state.status !== 'exists') throw new DomainError('webhook.not_found', 'there is no such webhook');
    switch (command.type) {
      case 'update':
        return updated(command, state);
      case 'disable':
        if (!state.active) return [];
        return [{ type: 'WebhookDisabled', data: { reason: command.reason, disabledAt: command.now } }];
      case 'regenerate_signing_key': {
        const { signingKeyRef, now } = command;
        const former = { formerKeyRef: state.signingKeyRef, formerValidUntil: now + FORMER_KEY_VALID_MS };
        return [{ type: 'WebhookSigningKeyRegenerated', data: { signingKeyRef, ...former, regeneratedAt: now } }];
      }
      case 'delete':
        return [{ type: 'WebhookDeleted', data: { deletedAt: command.now } }];
    }
  },

  evolve(state, event): WebhookState {
    if (event.type === 'WebhookCreated') {
      const { webhookId, createdAt, ...fields } = event.data;
      const state = { active: true, disabledReason: null, createdAt, updatedAt: createdAt };
      return { status: 'exists', id: webhookId, ...fields, ...state };
    }
    if (state.status !== 'exists') return state;
    switch (event.type) {
      case 'WebhookUpdated':
        return { ...state, ...event.data, disabledReason: null };
      case 'WebhookDisabled':
        return { ...state, active: false, disabledReason: event.data.reason, updatedAt: event.data.disabledAt };
      case 'WebhookSigningKeyRegenerated':
        return { ...state, signingKeyRef: event.data.signingKeyRef, updatedAt: event.data.regeneratedAt };
      case 'WebhookDeleted':
        return { status: 'deleted' };
    }
  },
};

const updated = (
  { changes, now }: Extract<WebhookCommand, { type: 'update' }>,
  { name, description, url, active, rules }: ExistingWebhook,
): WebhookEvent[] => {
  const next = {
    name: changes.name === undefined ? name : changes.name,
    description: changes.description === undefined ? description : changes.description,
    url: changes.url === undefined ? url : checkWebhookUrl(changes.url),
    active: changes.active ?? active,
    rules: { ...rules, ...changes.rules },
  };
  const sameRules = (Object.keys(rules) as (keyof WebhookRules)[]).every((rule) => next.rules[rule] === rules[rule]);
  const sameTexts = next.name === name && next.description === description && next.url === url;
  const same = sameTexts && sameRules && next.active === active;
  return same ? [] : [{ type: 'WebhookUpdated', data: { ...next, updatedAt: now } }];
};
