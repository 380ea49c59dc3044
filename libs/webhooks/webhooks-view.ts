import { type Clock } from '#libs/kernel/clock.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type WebhookEvent, type WebhookRules } from './published.js';

export interface KnownWebhook {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly active: boolean;
  readonly rules: WebhookRules;
  /** Vault references of the keys that are valid now, newest first. */
  readonly signingKeyRefs: readonly string[];
}

interface FormerKey {
  readonly ref: string;
  readonly validUntil: number;
}
interface Entry extends KnownWebhook {
  readonly formerKeys: readonly FormerKey[];
}

/** Keeps every webhook in memory for the delivery worker. Returns the same object until the webhook changes. */
export class WebhooksView implements LiveView {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock) {}

  find(id: string): KnownWebhook | undefined {
    const entry = this.entries.get(id);
    if (!entry || entry.formerKeys.length === 0) return entry;
    const now = this.clock.now();
    if (entry.formerKeys.every(({ validUntil }) => validUntil > now)) return entry;
    const formerKeys = entry.formerKeys.filter(({ validUntil }) => validUntil > now);
    return this.put({ ...entry, formerKeys }, entry.signingKeyRefs[0]);
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & WebhookEvent;
    const id = idOf(event.stream);
    if (event.type === 'WebhookCreated') {
      const { url, signingKeyRef, rules } = event.data;
      const { workspaceId } = event.metadata;
      this.put({ id, workspaceId, url, active: true, rules, signingKeyRefs: [], formerKeys: [] }, signingKeyRef);
      return;
    }
    const entry = this.entries.get(id);
    if (!entry) return;
    switch (event.type) {
      case 'WebhookUpdated': {
        const { url, active, rules } = event.data;
        this.entries.set(id, { ...entry, url, active, rules });
        return;
      }
      case 'WebhookDisabled':
        this.entries.set(id, { ...entry, active: false });
        return;
      case 'WebhookSigningKeyRegenerated': {
        const { signingKeyRef, formerKeyRef, formerValidUntil } = event.data;
        const formerKeys = [{ ref: formerKeyRef, validUntil: formerValidUntil }, ...entry.formerKeys];
        this.put({ ...entry, formerKeys }, signingKeyRef);
        return;
      }
      case 'WebhookDeleted':
        this.entries.delete(id);
        return;
      default:
        return;
    }
  }

  private put(entry: Entry, currentRef: string | undefined): Entry {
    const current = currentRef === undefined ? [] : [currentRef];
    const next = { ...entry, signingKeyRefs: [...current, ...entry.formerKeys.map(({ ref }) => ref)] };
    this.entries.set(entry.id, next);
    return next;
  }
}

/** Webhook for the delivery worker, which reads its keys in plain text on demand. */
export interface DeliverableWebhook {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly active: boolean;
  readonly timeoutMs: number;
  readonly maxAttempts?: number;
  readonly concurrency?: number;
  readonly ordered?: boolean;
  signingKeys(): Promise<readonly string[]>;
}

/** Directory of the worker over view and vault. Returns the same object as long as the view does. */
export const webhookDirectory = (
  view: WebhooksView,
  vault: Vault,
  settings: { readonly timeoutMs: number },
): { find(webhookId: string): DeliverableWebhook | undefined } => {
  const made = new WeakMap<KnownWebhook, DeliverableWebhook>();
  return {
    find(webhookId) {
      const known = view.find(webhookId);
      if (!known) return undefined;
      let target = made.get(known);
      if (!target) {
        const { id, workspaceId, url, active, rules, signingKeyRefs } = known;
        const { timeoutS, maxAttempts, ordered } = rules;
        const signingKeys = async (): Promise<readonly string[]> => {
          const keys = await Promise.all(signingKeyRefs.map((ref) => vault.get(ref, workspaceId)));
          return keys.filter((key) => key !== undefined);
        };
        target = {
          id,
          workspaceId,
          url,
          active,
          timeoutMs: timeoutS === null ? settings.timeoutMs : timeoutS * 1_000,
          ...(maxAttempts === null ? {} : { maxAttempts }),
          ...(ordered ? { ordered, concurrency: 1 } : {}),
          signingKeys,
        };
        made.set(known, target);
      }
      return target;
    },
  };
};
