import { Inject, Injectable } from '@nestjs/common';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EVENT_STORE, READ_MODELS } from '#libs/kernel/tokens.js';
import { type Caller } from '#libs/http/callers.js';
import { sourceDecider, sourceNotFound } from './domain/source.js';
import { findSource } from './get-source/find-source.js';

export interface LocatedSource {
  readonly sourceId: string;
  readonly workspaceId: string;
}

/** Finds the workspace of a source for a caller. See docs/reference/rest-api.md#workspace-of-resource. */
@Injectable()
export class LocateSource {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  /** Finds by id or name slug. Throws source.not_found, also for a source of a workspace that is not the caller's. */
  async locate(idOrSlug: string, caller: Caller): Promise<LocatedSource> {
    if (!idOrSlug.startsWith('dc_')) {
      const doc = await findSource(this.readModels, idOrSlug, caller);
      if (!doc) throw sourceNotFound(idOrSlug);
      return { sourceId: doc.id, workspaceId: doc.workspaceId };
    }
    if (!isIdOf('dc', idOrSlug)) throw sourceNotFound(idOrSlug);
    // Reads the log, so that a source can be changed right after its deployment. A read model may lag.
    for await (const { metadata } of this.store.read(streamName(sourceDecider.category, idOrSlug), { limit: 1 })) {
      if (!caller.workspaceIds.includes(metadata.workspaceId)) break;
      return { sourceId: idOrSlug, workspaceId: metadata.workspaceId };
    }
    throw sourceNotFound(idOrSlug);
  }
}
