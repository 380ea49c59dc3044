import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId, shownId } from '#libs/kernel/ids.js';
import { VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';

/** Records that one workspace may have. A further one replaces another. */
export const PLACES = 256;

interface StoredProps {
  readonly componentId: string;
  readonly props: readonly ConfigurableProp[];
}

/**
 * Stores results of additionalProps under a `dyp_…` id, which is derived from the content. The id also names the place
 * of the record, so a workspace has a fixed number of them (docs/adr/0069-warm-actions.md).
 */
@Injectable()
export class DynamicPropsStore {
  constructor(@Inject(VAULT) private readonly vault: Vault) {}

  async put(workspaceId: string, stored: StoredProps): Promise<string> {
    const text = JSON.stringify({ componentId: stored.componentId, props: stored.props } satisfies StoredProps);
    const id = idOf(workspaceId, text);
    await this.vault.put(placeOf(workspaceId, id), workspaceId, text);
    return id;
  }

  /** Rejects with DomainError component.dynamic_props_not_found. */
  async get(id: string, workspaceId: string, componentId: string): Promise<readonly ConfigurableProp[]> {
    const text = ID.test(id) ? await this.vault.get(placeOf(workspaceId, id), workspaceId) : undefined;
    if (text === undefined || idOf(workspaceId, text) !== id) throw notFound(id);
    const stored = JSON.parse(text) as StoredProps;
    if (stored.componentId !== componentId) throw notFound(id);
    return stored.props;
  }
}

const ID = /^dyp_[0-9a-f]{40}$/;

const idOf = (workspaceId: string, text: string): string =>
  `dyp_${createHash('sha256').update(`${workspaceId}\n${text}`).digest('hex').slice(0, 40)}`;

const placeOf = (workspaceId: string, id: string): string =>
  derivedId('sec', 'dynamic props', workspaceId, String(Number.parseInt(id.slice(4, 12), 16) % PLACES));

const notFound = (id: string): DomainError =>
  new DomainError(
    'component.dynamic_props_not_found',
    `there are no dynamic props ${shownId(id)} of this component: they may have made room for newer ones; ask POST /v1/components/props again`,
    { id: shownId(id) },
  );
