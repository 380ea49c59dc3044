/** The fields of a V8 CPU profile that this module reads. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples?: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas?: readonly number[];
}

export interface AreaTime {
  readonly area: string;
  readonly us: number;
}

export const IDLE = 'idle';
/** The call that starts the profiler counts as running until the first event after it. */
export const PROFILER = 'profiler';

/** Time of a profile by area, most first. Each sample counts for the running function (self time). */
export const timeByArea = (profile: CpuProfile): readonly AreaTime[] => sumBy(profile, (frame) => areaOf(frame));

/** The functions with most self time, with their file. */
export const timeByFunction = (profile: CpuProfile): readonly AreaTime[] =>
  sumBy(profile, ({ functionName, url }) => `${functionName || '(anonymous)'} ${placeOf(url)}`);

const sumBy = (
  { nodes, samples = [], timeDeltas = [] }: CpuProfile,
  key: (frame: Frame, caller: Frame | undefined) => string,
): readonly AreaTime[] => {
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const frame = frames.get(id);
    if (!frame) return;
    const name = key(frame, frames.get(parents.get(id) ?? -1));
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  return [...times].map(([area, us]) => ({ area, us })).sort((a, b) => b.us - a.us);
};

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber?: number;
  readonly columnNumber?: number;
}

const NATIVE: Readonly<Record<string, string>> = {
  '(idle)': IDLE,
  dispatch: PROFILER,
  '(garbage collector)': 'garbage collection',
  '(program)': 'V8 and libuv',
  '(root)': 'V8 and libuv',
  parse: 'JSON',
  stringify: 'JSON',
};
/** Node's own functions without a file, which read and write sockets and files. */
const SOCKET_CALLS = /^(write|read|shutdown|connect|consume|writev|execute|readStart|readStop)/;

/** Area of a function: a package, a part of Node, or one of our folders. */
export const areaOf = ({ functionName, url }: Frame): string => {
  const native = url === '' ? NATIVE[functionName] : undefined;
  if (native !== undefined) return native;
  if (url === '') return SOCKET_CALLS.test(functionName) ? 'sockets and streams' : 'V8 and libuv';
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url.slice(url.lastIndexOf('node_modules/')));
  if (packaged) return packageArea(packaged[1] ?? '');
  const own = /^.*\/(apps|libs)\/([^/]+)(?:\/([^/]+))?/.exec(url);
  if (own)
    return own[2] === 'engines'
      ? `ours: engines/${own[3] ?? ''}`
      : `ours: ${own[1] === 'apps' ? 'apps' : (own[2] ?? '')}`;
  if (url.startsWith('node:')) return nodeArea(url);
  return 'other';
};

const packageArea = (name: string): string => {
  if (name === 'bson' || name === 'mongodb') return `${name} (driver of MongoDB)`;
  if (name === 'kafkajs') return 'kafkajs (encoding)';
  if (name.startsWith('@grpc') || name === 'google-protobuf' || name === '@eventstore')
    return 'gRPC and EventStoreDB client';
  if (name.startsWith('@nestjs') || name === 'express') return 'Nest and Express';
  return name;
};

const nodeArea = (url: string): string => {
  if (/(^node:|\/)(net|tls|http|_http|stream|streams|events|dgram)|stream_base|_http_|http2/.test(url))
    return 'sockets and streams';
  if (/crypto/.test(url)) return 'crypto';
  if (/buffer/.test(url)) return 'Buffer';
  if (/timers|process\/task_queues|async_hooks|process\/promises|async_local/.test(url)) return 'timers and promises';
  return 'other of Node';
};

const placeOf = (url: string): string => {
  const known = /^.*(?:node_modules\/|\/(?=(?:apps|libs)\/))(.*)$/.exec(url);
  return known?.[1] ?? url;
};
