import { Inject, Injectable } from '@nestjs/common';
import { ACTION_RUNS, type ActionRuns } from '#libs/actions/published.js';
import { COMPONENT_OPTIONS, type ComponentOptions } from '#libs/components/published.js';
import { type Caller } from '#libs/http/callers.js';
import { ERROR_TABLE } from '#libs/http/error-table.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { TOOL_RUNS, type ToolRuns } from '#libs/workflow-history/published.js';
import { ActionToolsView } from '../action-tools-view.js';
import { type CallableTools, type ToolCall, toolCall } from '../domain/tool-call.js';
import { toolCaller } from '../domain/tool-caller.js';
import { actionFacts, type ActionTool, type ListedTool, pageOfTools, toolsFor } from '../domain/tool-list.js';
import { actionReply, failedReply, optionsReply, runReply, type ToolReply } from '../domain/tool-reply.js';
import {
  type FoundAction,
  MCP_SETTINGS,
  type McpSettings,
  TOOL_ACCOUNTS,
  TOOL_ACTIONS,
  type ToolAccounts,
  type ToolActions,
  WORKFLOW_TOOLS,
  type WorkflowTools,
} from '../ports.js';

/** A request for tools, in the workspace of its context. */
export interface ToolsRequest {
  readonly caller: Caller;
  readonly context: CommandContext;
  readonly repeat: RepeatId | undefined;
}

/** Lists and calls the tools of a caller (docs/reference/workflows.md#mcp). */
@Injectable()
export class CallerTools {
  constructor(
    @Inject(WORKFLOW_TOOLS) private readonly workflows: WorkflowTools,
    private readonly actionTools: ActionToolsView,
    @Inject(TOOL_ACTIONS) private readonly actions: ToolActions,
    @Inject(TOOL_ACCOUNTS) private readonly accounts: ToolAccounts,
    @Inject(TOOL_RUNS) private readonly runs: ToolRuns,
    @Inject(ACTION_RUNS) private readonly actionRuns: ActionRuns,
    @Inject(COMPONENT_OPTIONS) private readonly forms: ComponentOptions,
    @Inject(MCP_SETTINGS) private readonly settings: Pick<McpSettings, 'waitMs'>,
  ) {}

  /** The page of the list after the name `after`. */
  async list(
    request: ToolsRequest,
    after: string | undefined,
  ): Promise<{ readonly tools: readonly ListedTool[]; readonly next?: string }> {
    const known = await this.known(request);
    return pageOfTools(known.tools, after, known);
  }

  /** Undefined for a tool that is unknown or forbidden. What the tool is refused with is an answer. */
  async call(
    request: ToolsRequest,
    name: string,
    given: Readonly<Record<string, unknown>> | undefined,
  ): Promise<ToolReply | undefined> {
    const call = await toolCall(await this.known(request), { name, arguments: given });
    try {
      return await this.answer(call, request);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const { status, word } = ERROR_TABLE[error.code];
      // A client, and not its model, can wait and try again.
      if (status >= 500) throw error;
      return failedReply({ name: word, message: error.message });
    }
  }

  private async answer(call: ToolCall, { caller, context, repeat }: ToolsRequest): Promise<ToolReply | undefined> {
    switch (call.kind) {
      case 'unknown':
        return undefined;
      case 'failure':
        return failedReply(call.failure);
      case 'workflow': {
        const { workflowId, trigger: tool, event } = call;
        const { workspaceId } = context;
        const { waitMs } = this.settings;
        const repeatId = await repeat?.();
        return runReply(await this.runs.call({ workflowId, workspaceId, tool, event, waitMs, repeatId }));
      }
      case 'action': {
        const configured = { props: call.props, dynamicPropsId: undefined };
        const { error, answer } = await this.actionRuns.run(call.componentId, configured, context);
        return error ? failedReply(error) : actionReply(answer);
      }
      case 'options': {
        const { componentId: component, prop, props: values, page, query, prevContext = {} } = call;
        const asked = { component, prop, values, page, prevContext, caller };
        return optionsReply(await this.forms.options(query === undefined ? asked : { ...asked, query }));
      }
    }
  }

  private async known({ caller, context }: ToolsRequest): Promise<CallableTools> {
    const { workspaceId } = context;
    const limits = toolCaller(caller, workspaceId);
    const ofRegistry = limits.allowed === null ? [] : await this.actions.ofRegistry([...limits.allowed]);
    const actions = chain(ofRegistry.flatMap(registryTool), this.actionTools.of(workspaceId));
    const workflows = this.workflows.tools(workspaceId);
    return {
      tools: toolsFor(limits, { workflows, actions }),
      detailsOf: ({ componentId }) => this.actions.find(componentId),
      accountsOf: ({ app }) => (app === undefined ? [] : this.accounts.ofApp(app, workspaceId)),
    };
  }
}

function* chain<T>(...parts: readonly Iterable<T>[]): Iterable<T> {
  for (const part of parts) yield* part;
}

const registryTool = (action: FoundAction): readonly ActionTool[] => {
  const { componentId, key, createdAt } = action;
  return key === null ? [] : [{ componentId, key, createdAt, isOfRegistry: true, ...actionFacts(action) }];
};
