import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { type Caller } from '#libs/http/callers.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { BLOBS, READ_MODELS } from '#libs/kernel/tokens.js';
import { lockOf } from '../save-component/saved-packages.js';
import { findComponent } from './find-component.js';
import { componentNotFound } from './get-component.query.js';

/** The npm packages of a component, as its lock pins them. */
export class GetComponentPackages extends Query<readonly LockedPackage[]> {
  constructor(
    readonly keyOrId: string,
    readonly caller: Caller,
  ) {
    super();
  }
}

@QueryHandler(GetComponentPackages)
export class GetComponentPackagesHandler implements IQueryHandler<GetComponentPackages> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(BLOBS) private readonly blobs: BlobStore,
  ) {}

  async execute({ keyOrId, caller }: GetComponentPackages): Promise<readonly LockedPackage[]> {
    const found = await findComponent(this.readModels, keyOrId, caller);
    if (!found) throw componentNotFound(keyOrId);
    return (await lockOf(this.blobs, found.doc.component))?.packages ?? [];
  }
}
