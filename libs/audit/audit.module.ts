import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { GetAuditController } from './get-audit/get-audit.controller.js';
import { GetResourceAtHandler } from './get-audit/get-resource-at.query.js';
import { ListHistoryHandler } from './get-audit/list-history.query.js';

/** Needs from a global module: EVENT_STORE, UPCASTERS, AUDITABLE_RESOURCES, and the exports of HttpModule. */
@Module({
  imports: [CqrsModule],
  controllers: [GetAuditController],
  providers: [GetResourceAtHandler, ListHistoryHandler],
})
export class AuditModule {}
