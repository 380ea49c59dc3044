import { Inject, Injectable } from '@nestjs/common';
import { Changed } from '#libs/http/changed.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { BLOBS, CLOCK } from '#libs/kernel/tokens.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { SOURCE_RECORDS, type SourceRecords } from '#libs/sources/published.js';
import { readVersion } from './deployments.js';
import { type StoredVersion } from './domain/stored-version.js';
import { noDraft } from './domain/workflow.js';
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
import { codesOf, shownVersion, type ShownWorkflow, type WorkflowReply, workflowReply } from './workflow-reply.js';

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

  /** As the read models know it. Throws workflow.no_draft. */
  async read(shown: ShownWorkflow, isDraft = false): Promise<WorkflowReply> {
    const { workflowId, deployed, draft } = shown.workflow;
    if (isDraft && !draft) throw noDraft(workflowId);
    const of = isDraft ? draft : deployed;
    const stored = of ? await this.version(of.versionHash) : undefined;
    return this.reply({ ...shown, stored, isDraft }, await this.subscriptions.of(workflowId), 'read_model');
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
    const reply = await this.reply(saved, [...owned, ...others], 'log');
    return new Changed(saved.position, warned(reply, saved.warnings));
  }

  private async reply(
    shown: ShownWorkflow & Pick<SavedWorkflow, 'stored' | 'isDraft'>,
    heard: readonly HeardEvents[],
    sourcesFrom: 'log' | 'read_model',
  ): Promise<WorkflowReply> {
    const { workflow, isDraft = false } = shown;
    const version = shownVersion(workflow, shown.stored, isDraft);
    const codes = await codesOf(version.stored, this.blobs);
    const { switchedAt } = workflow;
    const ticks = workflow.active && !isDraft;
    const sourceIds = version.triggers.flatMap((each) => (each.kind === 'source' ? [each.emitterId] : []));
    const sources = await this.sources.of(sourceIds, shown.workspaceId, sourcesFrom);
    return workflowReply(shown, version, heard, codes, {
      sourceOf: (id) => sources.get(id) ?? {},
      urlOf: (key) => this.urls.urlOf(key),
      nextTickOf: (timer) =>
        ticks ? this.schedules.next(timer, ticksSince(timer, switchedAt), this.clock.now()) : undefined,
    });
  }
}
