import { Inject, Injectable } from '@nestjs/common';
import { Changed } from '#libs/http/changed.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { BLOBS, CLOCK } from '#libs/kernel/tokens.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { SOURCE_RECORDS, type SourceRecords } from '#libs/sources/published.js';
import { readVersion } from './deployments.js';
import { type StoredVersion } from './domain/stored-version.js';
import {
  ENDPOINT_URLS,
  type EndpointUrls,
  type HeardEvents,
  TIMER_SCHEDULES,
  type TimerSchedules,
  WORKFLOW_SUBSCRIPTIONS,
  type WorkflowSubscriptions,
} from './ports.js';
import { isListening, ticksSince } from './published.js';
import { type SavedWorkflow } from './saved-workflow.js';
import { codesOf, type ShownWorkflow, type WorkflowReply, workflowReply } from './workflow-reply.js';

/** Makes the whole record of a workflow, with the code of its components. */
@Injectable()
export class ShownWorkflows {
  constructor(
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
    @Inject(TIMER_SCHEDULES) private readonly schedules: TimerSchedules,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SOURCE_RECORDS) private readonly sources: SourceRecords,
    @Inject(WORKFLOW_SUBSCRIPTIONS) private readonly subscriptions: WorkflowSubscriptions,
  ) {}

  /** As the read models know it. */
  async read(shown: ShownWorkflow, versionHash: string): Promise<WorkflowReply> {
    const stored = await this.version(versionHash);
    return this.reply(shown, stored, await this.subscriptions.of(shown.workflow.workflowId), 'read_model');
  }

  version(hash: string): Promise<StoredVersion> {
    return readVersion(this.blobs, hash);
  }

  /** The subscriptions of its triggers follow a moment later, so the read model does not show them yet. */
  async changed(saved: SavedWorkflow): Promise<Changed<Warned<WorkflowReply>>> {
    const { workflowId, deployed } = saved.workflow;
    const others = (await this.subscriptions.of(workflowId)).filter(({ isOwned }) => !isOwned);
    const owned = (deployed?.triggers ?? [])
      .filter(isListening)
      .map(({ subscriptionId: id, ...events }) => ({ id, ...events, isOwned: true }));
    const reply = await this.reply(saved, saved.stored, [...owned, ...others], 'log');
    return new Changed(saved.position, warned(reply, saved.warnings));
  }

  private async reply(
    shown: ShownWorkflow,
    stored: StoredVersion,
    heard: readonly HeardEvents[],
    sourcesFrom: 'log' | 'read_model',
  ): Promise<WorkflowReply> {
    const codes = await codesOf(stored, this.blobs);
    const { active, switchedAt, deployed } = shown.workflow;
    const sourceIds = (deployed?.triggers ?? []).flatMap((each) => (each.kind === 'source' ? [each.emitterId] : []));
    const sources = await this.sources.of(sourceIds, shown.workspaceId, sourcesFrom);
    return workflowReply(shown, stored, heard, codes, {
      sourceOf: (id) => sources.get(id) ?? {},
      urlOf: (key) => this.urls.urlOf(key),
      nextTickOf: (timer) =>
        active ? this.schedules.next(timer, ticksSince(timer, switchedAt), this.clock.now()) : undefined,
    });
  }
}
