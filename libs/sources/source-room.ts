import { Inject, Injectable } from '@nestjs/common';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type SourceLimits } from './limits.js';
import { SOURCES } from './read-models/sources.projection.js';

/** The number of sources that a workspace may have. */
@Injectable()
export class SourceRoom {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: SourceLimits,
  ) {}

  /** Throws workspace.limit_reached. */
  check(workspaceId: string): Promise<void> {
    const limit = this.limits.sourcesPerWorkspace;
    const counted = { what: 'sources', owner: 'workspace', limit, setting: 'SLUICE_MAX_SOURCES' } as const;
    return checkRoom(this.readModels, SOURCES, { workspaceId }, counted);
  }
}
