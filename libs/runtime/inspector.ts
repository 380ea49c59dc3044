import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../kernel/clock.js';
import { DomainError } from '../kernel/domain-error.js';
import { bundleComponent, type BundleInput, type PackageResolver } from './bundler.js';
import { parseChildMessage } from './child-message.js';
import { type ComponentMetadata } from './component-metadata.js';
import { DEFAULT_JAIL_LIMITS, JailHouse } from './jail-house.js';
import { type JailLevel } from './jail/jail-level.js';
import { type JailedProcess } from './jail/jailed-process.js';
import { parseMetadata } from './metadata-validation.js';
import { causeOf } from './process-end.js';
import { encodeRecord, type ChildSettings, type ProtocolBreach, type RawRecord } from './protocol.js';

export interface InspectorOptions {
  readonly level: JailLevel;
  readonly memoryMb?: number;
  /** Evaluating the module, decisions.md 2.1. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** Where npm packages come from; default: nowhere. */
  readonly packages?: PackageResolver;
}

export interface Inspector {
  /**
   * Evaluates a bundle in a jail without network and returns what it declares. Rejects with DomainError
   * component.invalid, details `{name, prop?}`: it throws, hangs, exits, exports no component, or breaks a rule.
   */
  inspectComponent(bundleFile: string): Promise<ComponentMetadata>;
  /** Bundles code, then does the same. Rejects also with DomainError component.package_unavailable. */
  inspect(
    code: string,
    options?: Omit<BundleInput, 'code'>,
  ): Promise<{ readonly bundle: string; readonly metadata: ComponentMetadata }>;
  /** Removes temporary files. Idempotent. */
  close(): Promise<void>;
}

const SETTINGS: Omit<ChildSettings, 'tmp'> = {
  sourceId: '',
  props: {},
  db: {},
  concurrency: 1,
  egress: null,
  inspect: true,
};

export const createInspector = (options: InspectorOptions): Inspector => {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const memoryMb = options.memoryMb ?? DEFAULT_JAIL_LIMITS.memoryMb;
  const clock = options.clock ?? systemClock;
  const house = new JailHouse(options.level, { ...DEFAULT_JAIL_LIMITS, memoryMb });
  const describe = async (bundle: string): Promise<ComponentMetadata> => {
    const metadata = await evaluate(house, bundle, timeoutMs);
    return { ...metadata, version: metadata.version.replaceAll('{{ts}}', String(clock.now())) };
  };
  return {
    inspectComponent: async (bundleFile) => describe(await readFile(bundleFile, 'utf8')),
    inspect: async (code, input = {}) => {
      const { bundle } = await bundleComponent({ ...input, code }, options.packages);
      return { bundle, metadata: await describe(bundle) };
    },
    close: () => house.close(),
  };
};

const invalid = (message: string, details: Readonly<Record<string, unknown>> = { name: 'UserError' }): DomainError =>
  new DomainError('component.invalid', message, details);

const evaluate = async (house: JailHouse, bundle: string, timeoutMs: number): Promise<ComponentMetadata> => {
  let answer: ComponentMetadata | DomainError | undefined;
  const child: JailedProcess = await house.start(undefined, {
    onRecord: (record) => {
      answer ??= readAnswer(record);
      child.kill();
    },
    onRead: () => undefined,
    onBreach: (breach: ProtocolBreach) => {
      answer ??= invalid(`the component broke the protocol of its process while it was loaded: ${breach.message}`);
    },
  });
  const timer = setTimeout(() => {
    answer ??= invalid(
      `evaluating the component took longer than the limit of ${timeoutMs} ms: do nothing slow at the top of the module`,
      { name: 'Timeout' },
    );
    child.kill();
  }, timeoutMs);
  child.send(encodeRecord(0, { t: 'init', settings: { ...SETTINGS, tmp: child.plan.tmp } }, [bundle]));
  const end = await child.ended;
  clearTimeout(timer);
  if (answer instanceof DomainError) throw answer;
  if (answer) return answer;
  const { code, text } = causeOf(end, house.limits.memoryMb);
  throw invalid(`the component could not be evaluated: ${text}`, { name: code });
};

const readAnswer = (record: RawRecord): ComponentMetadata | DomainError => {
  const message = parseChildMessage(record);
  switch (message[0]) {
    case 'meta':
      return parseMetadata(record.raw);
    case 'invalid':
      return invalid(message[1], { name: 'UserError', ...(message[2] === null ? {} : { prop: message[2] }) });
    case 'loadfail': {
      const { name, message: text, stack } = message[1];
      return invalid(`the component cannot be loaded: ${name}: ${text}`, { name, stack });
    }
    case 'ready':
    case 's':
    case 'e':
    case 'l':
    case 'b':
    case 'r':
    case 'd':
    case 'x':
      return invalid('the component broke the protocol of its process while it was loaded');
  }
};
