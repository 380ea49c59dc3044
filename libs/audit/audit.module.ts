import { Module, type DynamicModule } from '@nestjs/common';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EVENT_STORE, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { GetAuditController } from './get-audit/get-audit.controller.js';
import { GetResourceAtHandler } from './get-audit/get-resource-at.query.js';
import { ListHistoryHandler } from './get-audit/list-history.query.js';
import { ListWorkspaceAuditController } from './list-workspace-audit/list-workspace-audit.controller.js';
import { ListWorkspaceAuditHandler } from './list-workspace-audit/list-workspace-audit.query.js';
import { type AuditableResource } from '#libs/kernel/auditable.js';
import { AUDITABLE_RESOURCES } from './ports.js';

export interface AuditPorts {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  readonly auditable: readonly AuditableResource[];
}

@Module({
  controllers: [GetAuditController, ListWorkspaceAuditController],
  providers: [GetResourceAtHandler, ListHistoryHandler, ListWorkspaceAuditHandler],
})
export class AuditModule {
  static forRoot(ports: AuditPorts): DynamicModule {
    return {
      module: AuditModule,
      providers: [
        { provide: EVENT_STORE, useValue: ports.events },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: UPCASTERS, useValue: ports.upcasters },
        { provide: AUDITABLE_RESOURCES, useValue: ports.auditable },
      ],
    };
  }
}
