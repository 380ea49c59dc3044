import { withDeadline } from '#libs/async/deadline.js';
import { readFile } from 'node:fs/promises';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { type Clock, systemClock } from '#libs/kernel/clock.js';
import { childCode } from '../child-file.js';
import { parseChildMessage } from '../protocol/child-message.js';
import { DEFAULT_JAIL_LIMITS, type JailExtras, JailLauncher, type JailLimits } from './jail-launcher.js';
import { PACKAGES } from '../protocol/packages.js';
import { type JailLevel, type SpawnPlan } from '../jail/jail-level.js';
import { type JailedProcess, type JailedProcessHandlers } from '../jail/jailed-process.js';
import { causeOf, type HeapLimit, userError } from './process-end.js';
import { ProcessSandbox } from './process-sandbox.js';
import { MB, type ChildSettings } from '../protocol/protocol.js';
import { encodeRecord, ProtocolBreach } from '#libs/framing/records.js';
import { RunsMemory } from './runs-memory.js';
import { BundleNotLoaded, type SandboxFactory, type SandboxSpec } from '../sandbox.js';
import { type UserError } from '#libs/component-model/run-output.js';

export interface SandboxFactoryOptions {
  readonly level: JailLevel;
  readonly limits?: Partial<JailLimits>;
  /** Unix socket of a source's egress guard, connectable by any user. Undefined means no network. */
  readonly egressSocket?: (workspaceId: string, sourceId: string) => Promise<string> | undefined;
  /** Called once for each answered call of `egressSocket`, when its process has ended or could not be started. */
  readonly egressDone?: (sourceId: string) => void;
  readonly clock?: Clock;
  /** Memory budget shared by all runs of this server process. Default: a budget for this factory only. */
  readonly memory?: RunsMemory;
  /** Data stores of all workspaces. Without it, every call to one fails. */
  readonly dataStores?: DataStoreAccess;
  /** Code of the processes. Default: that of a server. */
  readonly child?: 'plain' | 'test';
}

export interface ClosableSandboxFactory extends SandboxFactory {
  start(spec: SandboxSpec): Promise<ProcessSandbox>;
  /** Removes temporary files. All sandboxes must have been stopped. Idempotent. */
  close(): Promise<void>;
}

export const createSandboxFactory = (options: SandboxFactoryOptions): ClosableSandboxFactory => {
  const house = new JailLauncher(options.level, { ...DEFAULT_JAIL_LIMITS, ...options.limits }, options.child);
  const clock = options.clock ?? systemClock;
  const memory = options.memory ?? new RunsMemory({ bytes: 256 * MB });
  return {
    level: options.level.name,
    start: async (spec) => {
      let egress: string | undefined;
      let isReleased = false;
      const release = (): void => {
        if (isReleased) return;
        isReleased = true;
        void spec.packages?.release();
        if (egress !== undefined) options.egressDone?.(spec.sourceId);
      };
      try {
        const bundle = spec.bundleFile === null ? '' : await readFile(spec.bundleFile, 'utf8');
        egress = await options.egressSocket?.(spec.workspaceId, spec.sourceId);
        return await startSandbox(
          { house, clock, memory, dataStores: options.dataStores, release },
          spec,
          bundle,
          egress,
        );
      } catch (error) {
        release();
        throw error;
      }
    },
    close: () => house.close(),
  };
};

interface Host {
  readonly house: JailLauncher;
  readonly clock: Clock;
  readonly memory: RunsMemory;
  readonly dataStores: DataStoreAccess | undefined;
  /** Releases the resources of the process. Idempotent. */
  readonly release: () => void;
}

const startSandbox = async (
  { house, clock, memory, dataStores, release }: Host,
  spec: SandboxSpec,
  bundle: string,
  egress: string | undefined,
): Promise<ProcessSandbox> => {
  const heap = heapOf(spec, house.limits);
  let sandbox: ProcessSandbox | undefined;
  let loaded: (() => void) | undefined;
  let failed: ((reason: UserError) => void) | undefined;
  const loading = new Promise<void>((resolve, reject) => {
    loaded = resolve;
    failed = (cause) => reject(new BundleNotLoaded(spec.sourceId, cause));
  });
  // Rejections are handled below, after the process has started.
  loading.catch(() => undefined);
  const handlers: JailedProcessHandlers = {
    onRecord: (record) => {
      if (sandbox) return sandbox.onRecord(record);
      const message = parseChildMessage(record);
      if (record.index === 0 && message[0] === 'loadfail') failed?.(message[1]);
      else if (record.index === 0 && message[0] === 'ready') {
        sandbox = new ProcessSandbox(spec, child, heap, clock, memory, dataStores);
        loaded?.();
      } else throw new ProtocolBreach('a first record other than "ready"');
    },
    onRead: (pendingBytes) => sandbox?.onRead(pendingBytes),
    onBreach: (breach) => {
      if (sandbox) sandbox.onBreach(breach);
      else failed?.(userError('ProcessExited', breach.message));
    },
  };
  const child: JailedProcess = await house.start(egress, handlers, extrasOf(spec));
  const requestClient = needsRequests(spec) ? await childCode('request') : null;
  const { startTimeoutMs } = house.limits;
  void child.ended.then((end) => {
    release();
    const { code, text } = causeOf(end, heap);
    failed?.(userError(code, `${text}${end.stderr === '' ? '' : `: ${end.stderr.slice(0, 500)}`}`));
  });
  child.send(
    encodeRecord(0, { t: 'init', settings: settingsOf(spec, child.plan, house.limits.tmpMb, requestClient) }, [bundle]),
  );
  try {
    await withDeadline(loading, startTimeoutMs, () => {
      const late = userError(
        'Timeout',
        `loading took longer than the limit of ${startTimeoutMs} ms: do nothing slow at the top of the module`,
      );
      return new BundleNotLoaded(spec.sourceId, late);
    });
  } catch (error) {
    child.kill();
    await child.ended;
    throw error;
  }
  if (!sandbox) throw new Error('unreachable: loaded without a sandbox');
  return sandbox;
};

const needsRequests = ({ props, sendsRequests = false }: SandboxSpec): boolean =>
  sendsRequests || Object.values(props).some(({ kind }) => kind === 'request');

/** Only a workflow sets the heap of its processes. */
const heapOf = ({ memoryMb }: SandboxSpec, limits: JailLimits): HeapLimit =>
  memoryMb === undefined ? { memoryMb: limits.memoryMb } : { memoryMb, setting: 'memory_mb' };

const extrasOf = ({ packages, memoryMb }: SandboxSpec): JailExtras => ({
  ...(memoryMb === undefined ? {} : { memoryMb }),
  ...(packages === undefined
    ? {}
    : { reads: [{ from: packages.folder, to: PACKAGES }], loadsMachineCode: packages.hasMachineCode }),
});

const settingsOf = (
  spec: SandboxSpec,
  { egress, tmp, reads }: SpawnPlan,
  tmpMb: number,
  requestClient: string | null,
): ChildSettings => ({
  env: spec.env ?? { PD_COMPONENT: spec.sourceId },
  hasBundle: spec.bundleFile !== null,
  props: spec.props,
  ...(spec.dynamicProps === undefined ? {} : { dynamicProps: spec.dynamicProps }),
  db: spec.db,
  concurrency: spec.concurrency,
  egress,
  tmp,
  tmpMb,
  requestClient,
  packages: reads[0] ?? null,
  inspect: null,
});
