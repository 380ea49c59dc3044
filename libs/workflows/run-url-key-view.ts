import { createPublicKey, type KeyObject } from 'node:crypto';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type RunUrlKeyCreated } from './published.js';

/** The key that checks the tokens of run URLs. */
export class RunUrlKeyView implements LiveView {
  private known: { readonly secretRef: string; readonly publicKey: KeyObject } | undefined;

  apply(event: RecordedEvent): void {
    if (!isKeyCreated(event)) return;
    const { secretRef, publicKey } = event.data;
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    this.known = { secretRef, publicKey: key };
  }

  /** Undefined until the first runner has made it. */
  get publicKey(): KeyObject | undefined {
    return this.known?.publicKey;
  }

  /** Place of the private key in the vault. */
  get secretRef(): string | undefined {
    return this.known?.secretRef;
  }
}

const isKeyCreated = (event: RecordedEvent): event is RecordedEvent<RunUrlKeyCreated> =>
  event.type === ('RunUrlKeyCreated' satisfies RunUrlKeyCreated['type']);
