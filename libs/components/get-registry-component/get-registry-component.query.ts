import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { BLOBS, READ_MODELS } from '#libs/kernel/tokens.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { componentReply, type ComponentReply } from '../component-reply.js';
import { listedComponent } from '../get-component/find-component.js';

export class GetRegistryComponent extends Query<Warned<ComponentReply>> {
  constructor(readonly key: string) {
    super();
  }
}

@QueryHandler(GetRegistryComponent)
export class GetRegistryComponentHandler implements IQueryHandler<GetRegistryComponent> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(BLOBS) private readonly blobs: BlobStore,
  ) {}

  async execute({ key }: GetRegistryComponent): Promise<Warned<ComponentReply>> {
    const doc = await listedComponent(this.readModels, key);
    const code = doc && (await this.blobs.get(doc.component.codeHash));
    if (!doc || code === undefined) {
      throw new DomainError(
        'component.not_found',
        `there is no component ${shownId(key)} in the registry of this server: its operator adds components with \`sluice registry add\`, and GET /v1/components/search lists the keys`,
        { id: shownId(key) },
      );
    }
    return warned(componentReply(doc, code), doc.component.warnings);
  }
}
