import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { readAll } from '#libs/kernel/read-all.js';
import { type Page, type PageQuery, type PageWhere, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { hasPart } from '#libs/kernel/text-search.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { pageOf } from '../page-in-memory.js';
import { WORKFLOWS, type WorkflowDoc } from '../read-models/workflows.projection.js';

export interface WorkflowFilter {
  readonly workspaceId: string | readonly string[];
  readonly active?: boolean | undefined;
  /** Part of the name; case does not matter. */
  readonly q?: string | undefined;
}

export class ListWorkflows extends Query<Page<WorkflowDoc>> {
  constructor(
    readonly filter: WorkflowFilter,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

/** Newest first, by creation. */
@QueryHandler(ListWorkflows)
export class ListWorkflowsHandler implements IQueryHandler<ListWorkflows> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ filter, page }: ListWorkflows): Promise<Page<WorkflowDoc>> {
    const { workspaceId, active, q } = filter;
    const where: PageWhere = { workspaceId, ...(active === undefined ? {} : { active: active ? 'yes' : 'no' }) };
    if (q === undefined) return this.readModels.page<WorkflowDoc>(WORKFLOWS, { ...page, where });
    // A workspace has at most as many workflows as its limit.
    const part = q.toLowerCase();
    const all = await readAll<WorkflowDoc>(this.readModels, WORKFLOWS, where);
    return pageOf(
      all.filter(({ workflow }) => hasPart(workflow.name.toLowerCase(), part)),
      page,
    );
  }
}
