import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type Caller } from '#libs/http/callers.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { BLOBS, READ_MODELS } from '#libs/kernel/tokens.js';
import { componentReply, type ComponentReply } from '../component-reply.js';
import { findComponent } from './find-component.js';

export class GetComponent extends Query<Warned<ComponentReply>> {
  constructor(
    readonly keyOrId: string,
    readonly caller: Caller,
  ) {
    super();
  }
}

@QueryHandler(GetComponent)
export class GetComponentHandler implements IQueryHandler<GetComponent> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(BLOBS) private readonly blobs: BlobStore,
  ) {}

  async execute({ keyOrId, caller }: GetComponent): Promise<Warned<ComponentReply>> {
    const found = await findComponent(this.readModels, keyOrId, caller);
    if (!found) throw componentNotFound(keyOrId);
    const { doc } = found;
    const code = await this.blobs.get(doc.component.codeHash);
    if (code === undefined) {
      throw new Error(`code ${doc.component.codeHash} of component ${doc.id} is not in the blob store`);
    }
    return warned(componentReply(doc, code), doc.component.warnings);
  }
}

export const componentNotFound = (keyOrId: string): DomainError =>
  new DomainError(
    'component.not_found',
    `there is no component with the ${keyOrId.startsWith('sc_') ? 'id' : 'key'} ${shownId(keyOrId)} ${keyOrId.startsWith('sc_') ? 'in your workspaces' : 'in this workspace or in the registry'}${otherKindHint(keyOrId, 'sc')}`,
    { id: shownId(keyOrId) },
  );
