import { Inject, Injectable } from '@nestjs/common';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { load } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EVENT_STORE, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type EndpointUrls } from './domain/endpoint-urls.js';
import { deployedSource, sourceDecider } from './domain/source.js';
import { ENDPOINT_URLS } from './ports.js';
import { type SourceRecords } from './published.js';
import { SOURCES, type SourceDoc } from './read-models/sources.projection.js';
import { sourceReply, type SourceReply } from './source-reply.js';

/** The fields of sources as replies show them. */
@Injectable()
export class ShownSources implements SourceRecords {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  async of(
    sourceIds: readonly string[],
    workspaceId: string,
    from: 'log' | 'read_model',
  ): Promise<ReadonlyMap<string, SourceReply>> {
    const found = new Map<string, SourceReply>();
    for (const id of sourceIds) {
      const { state, revision } = from === 'log' ? await this.inLog(id) : ((await this.listed(id, workspaceId)) ?? {});
      const source = state && deployedSource(state);
      if (source) found.set(id, sourceReply(source, Number(revision), workspaceId, this.urls));
    }
    return found;
  }

  private inLog(id: string) {
    return load(this.store, this.upcasters, sourceDecider, streamName(sourceDecider.category, id));
  }

  private async listed(id: string, workspaceId: string): Promise<SourceDoc | undefined> {
    const doc = await this.readModels.get<SourceDoc>(SOURCES, id);
    return doc?.workspaceId === workspaceId ? doc : undefined;
  }
}
