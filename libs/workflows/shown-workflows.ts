import { Inject, Injectable } from '@nestjs/common';
import { Changed } from '#libs/http/changed.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { BLOBS } from '#libs/kernel/tokens.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { readVersion } from './deployments.js';
import { type StoredVersion } from './domain/stored-version.js';
import { ENDPOINT_URLS, type EndpointUrls } from './ports.js';
import { type SavedWorkflow } from './saved-workflow.js';
import { codesOf, type ShownWorkflow, type WorkflowReply, workflowReply } from './workflow-reply.js';

/** Makes the whole record of a workflow, with the code of its components. */
@Injectable()
export class ShownWorkflows {
  constructor(
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  async reply(shown: ShownWorkflow, stored: StoredVersion): Promise<WorkflowReply> {
    const codes = await codesOf(stored, this.blobs);
    return workflowReply(shown, stored, codes, (key) => this.urls.urlOf(key));
  }

  version(hash: string): Promise<StoredVersion> {
    return readVersion(this.blobs, hash);
  }

  async changed(saved: SavedWorkflow): Promise<Changed<Warned<WorkflowReply>>> {
    return new Changed(saved.position, warned(await this.reply(saved, saved.stored), saved.warnings));
  }
}
