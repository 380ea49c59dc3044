import { Inject, Injectable } from '@nestjs/common';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { BLOBS, EVENT_STORE, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { readVersion } from './deployments.js';
import { type KnownVersion } from './domain/stored-version.js';
import { workflowDecider } from './domain/workflow.js';
import { versionNotFound } from './find-version.js';
import { type WorkflowEvent } from './published.js';

/** Reads versions from the log, so that one can be restored right after its deployment. */
@Injectable()
export class FormerVersions {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(BLOBS) private readonly blobs: BlobStore,
  ) {}

  /** Throws workflow.version_not_found. */
  async find(workflowId: string, version: number): Promise<KnownVersion> {
    for await (const recorded of this.store.read(streamName(workflowDecider.category, workflowId))) {
      const { type, data } = this.upcasters.upcast(recorded) as WorkflowEvent;
      if (type !== 'WorkflowDeployed' || data.version !== version) continue;
      return { stored: await readVersion(this.blobs, data.versionHash), triggers: data.triggers };
    }
    throw versionNotFound(workflowId, String(version));
  }
}
