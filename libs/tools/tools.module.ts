import { Module, type DynamicModule } from '@nestjs/common';
import { ActionToolsView } from './action-tools-view.js';
import {
  MCP_SETTINGS,
  type McpSettings,
  TOOL_ACCOUNTS,
  TOOL_ACTIONS,
  type ToolAccounts,
  type ToolActions,
  WORKFLOW_TOOLS,
  type WorkflowTools,
} from './ports.js';
import { CallerTools } from './serve-mcp/caller-tools.js';
import { McpController } from './serve-mcp/mcp.controller.js';

export interface ToolsPorts {
  readonly workflowTools: WorkflowTools;
  readonly actionTools: ActionToolsView;
  readonly toolActions: ToolActions;
  readonly toolAccounts: ToolAccounts;
  readonly mcp: McpSettings;
}

/** Needs ACTION_RUNS, COMPONENT_OPTIONS and TOOL_RUNS, which other modules publish. */
@Module({ controllers: [McpController], providers: [CallerTools] })
export class ToolsModule {
  static forRoot(ports: ToolsPorts): DynamicModule {
    return {
      module: ToolsModule,
      providers: [
        { provide: WORKFLOW_TOOLS, useValue: ports.workflowTools },
        { provide: ActionToolsView, useValue: ports.actionTools },
        { provide: TOOL_ACTIONS, useValue: ports.toolActions },
        { provide: TOOL_ACCOUNTS, useValue: ports.toolAccounts },
        { provide: MCP_SETTINGS, useValue: ports.mcp },
      ],
    };
  }
}
