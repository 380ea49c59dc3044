/** Ports of the tools context. The composition root provides them under these tokens. */
import { type ActionDetails, type WorkflowTool } from './domain/tool-list.js';

/** Implemented by the view of workflows. */
export interface WorkflowTools {
  /** The tools that the active workflows of a workspace offer. */
  tools(workspaceId: string): Iterable<WorkflowTool>;
}
export const WORKFLOW_TOOLS = Symbol('WorkflowTools');

export interface FoundAction extends ActionDetails {
  readonly componentId: string;
  readonly key: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Implemented by the read models of components. */
export interface ToolActions {
  /** Undefined for an unknown component. */
  find(componentId: string): Promise<FoundAction | undefined>;
  /** The actions that the registry lists under these keys. */
  ofRegistry(keys: readonly string[]): Promise<readonly FoundAction[]>;
}
export const TOOL_ACTIONS = Symbol('ToolActions');

/** Implemented by the view of accounts. */
export interface ToolAccounts {
  /** Ids of the accounts of an app, from old to new. */
  ofApp(app: string, workspaceId: string): readonly string[];
}
export const TOOL_ACCOUNTS = Symbol('ToolAccounts');

export interface McpSettings {
  /** Of the server, as clients are told. */
  readonly version: string;
  /** How long a call waits for the run of a workflow. */
  readonly waitMs: number;
  /** Where users reach the server. Null: only this machine does. */
  readonly publicUrl: string | null;
  /** Further web origins whose pages may call; `*` stands for all. */
  readonly origins: readonly string[];
}
export const MCP_SETTINGS = Symbol('McpSettings');
