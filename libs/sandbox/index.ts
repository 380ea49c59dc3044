/**
 * Exports of the sandbox for other rooms. All of it runs in servers. Code that runs in a jail or another process is
 * built from its entry point (child-build.ts) and shares only `libs/framing` with the server.
 */
export { type InstalledPackages, type PackageRequest, type PackageSource } from './bundler/packages.js';
export { type CallRequest, type ComponentCaller } from './component-caller.js';
export { AskedProcess, type Outcome } from './host/asked-process.js';
export { DEFAULT_CALL_LIMITS } from './host/call-turns.js';
export { createInspector, type Inspector } from './host/inspector.js';
export { DEFAULT_JAIL_LIMITS, JailLauncher } from './host/jail-launcher.js';
export { processCaller } from './host/process-caller.js';
export { causeOf, userError } from './host/process-end.js';
export { RunsMemory } from './host/runs-memory.js';
export { type ClosableSandboxFactory, createSandboxFactory } from './host/sandbox-factory.js';
export { SandboxPool } from './host/sandbox-pool.js';
export { detectIsolation, IsolationUnavailable, tryLevel } from './jail/detect.js';
export { type JailLevel, type JailName } from './jail/jail-level.js';
export { nodeFlags } from './jail/node-flags.js';
export { isCarried, missingOf, type Protection } from './jail/promises.js';
export { folderPrefix, removeStaleFolders } from './jail/stale-folders.js';
export { uids } from './jail/uids.js';
export { parseMetadata, parseProps } from './protocol/metadata-validation.js';
export { RUN_LIMITS, TEXT_LIMITS } from './protocol/protocol.js';
export { type AnsweredRequest, type HeaderPairs, type SentRequest, TEST_LINE_BYTES } from './protocol/test-link.js';
export { isFraming } from './protocol/reply-headers.js';
export { replyOf } from './reply-of.js';
export {
  type BoundProp,
  BundleNotLoaded,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxPackages,
  type SandboxSpec,
} from './sandbox.js';
export { type FileSink, TarballJail, type UnpackResult } from './unpack/tarball-jail.js';
