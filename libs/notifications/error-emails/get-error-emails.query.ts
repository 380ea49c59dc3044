import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type ErrorEmailsDoc, errorEmailsProjection } from '../read-models/error-emails.projection.js';

/** Undefined when the emails are off. */
export class GetErrorEmails extends Query<ErrorEmailsDoc | undefined> {
  constructor(readonly sourceId: string) {
    super();
  }
}

@QueryHandler(GetErrorEmails)
export class GetErrorEmailsHandler implements IQueryHandler<GetErrorEmails> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ sourceId }: GetErrorEmails): Promise<ErrorEmailsDoc | undefined> {
    return this.readModels.get<ErrorEmailsDoc>(errorEmailsProjection.schema, sourceId);
  }
}
