import { Module, type DynamicModule } from '@nestjs/common';
import { GetWorkflowSchemaController } from './get-workflow-schema/get-workflow-schema.controller.js';
import { DEFINITION_READER, type DefinitionReader, TRIGGER_REFERENCES, type TriggerReferences } from './ports.js';
import { ValidateWorkflowController } from './validate-workflow/validate-workflow.controller.js';
import { ValidateWorkflowHandler } from './validate-workflow/validate-workflow.handler.js';

export interface WorkflowsPorts {
  readonly definitionReader: DefinitionReader;
  readonly triggerReferences: TriggerReferences;
}

/** Needs COMPONENT_CATALOG, which ComponentsModule publishes, and PROP_CHECKS of SourcesModule. */
@Module({
  controllers: [GetWorkflowSchemaController, ValidateWorkflowController],
  providers: [ValidateWorkflowHandler],
})
export class WorkflowsModule {
  static forRoot(ports: WorkflowsPorts): DynamicModule {
    return {
      module: WorkflowsModule,
      providers: [
        { provide: DEFINITION_READER, useValue: ports.definitionReader },
        { provide: TRIGGER_REFERENCES, useValue: ports.triggerReferences },
      ],
    };
  }
}
