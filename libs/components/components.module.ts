import { Global, Module } from '@nestjs/common';
import { StoredComponentCatalog } from './catalog.js';
import { GetComponentController } from './get-component/get-component.controller.js';
import { GetComponentHandler } from './get-component/get-component.query.js';
import { COMPONENT_CATALOG } from './published.js';
import { SaveComponentController } from './save-component/save-component.controller.js';
import { SaveComponentHandler } from './save-component/save-component.handler.js';

/** Needs the tokens of libs/kernel/tokens.ts and of ports.ts, `ReadYourWritesGate`, and CqrsModule.forRoot(). */
@Global()
@Module({
  controllers: [SaveComponentController, GetComponentController],
  providers: [
    SaveComponentHandler,
    GetComponentHandler,
    { provide: COMPONENT_CATALOG, useClass: StoredComponentCatalog },
  ],
  exports: [COMPONENT_CATALOG],
})
export class ComponentsModule {}
