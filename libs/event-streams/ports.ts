import { type EndedStream } from './event-stream.js';
import { type StreamReader, type UnsentLimits } from './unsent-bytes.js';

export interface StreamSettings {
  /** Streams that a user may have open. A workspace may have five times as many, a process ten times. */
  readonly perUser: number;
  /** Bytes that streams may keep for readers that have not read them. */
  readonly unsent: UnsentLimits;
}

/** Services of a process for its open streams. */
export interface StreamPorts {
  readonly settings: StreamSettings;
  /** Whether the key is still in force and its user a member of the workspace. Called twice a second for each stream. */
  mayRead(apiKeyId: string, workspaceId: string): boolean;
  /** Whether the workflow is open to readers without a key. Called as often, for each of their streams. */
  isPublic(workflowId: string): boolean;
  /** Whether the source, workflow, webhook or workspace is not deleted. */
  exists(emitterId: string): boolean;
  shuttingDown(): boolean;
  /** Called once for each stream that ends. */
  onEnded(ended: EndedStream & StreamReader): void;
}
