import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Caller } from '#libs/http/callers.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { workflowNotFound } from '../domain/workflow.js';
import { type WorkflowDoc } from '../read-models/workflows.projection.js';
import { findWorkflow } from './find-workflow.js';

export class GetWorkflow extends Query<WorkflowDoc> {
  constructor(
    readonly w: string,
    readonly caller: Caller,
  ) {
    super();
  }
}

@QueryHandler(GetWorkflow)
export class GetWorkflowHandler implements IQueryHandler<GetWorkflow> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ w, caller }: GetWorkflow): Promise<WorkflowDoc> {
    const doc = await findWorkflow(this.readModels, w, caller);
    if (!doc) throw workflowNotFound(w);
    return doc;
  }
}
