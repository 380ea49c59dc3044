/** Entry point of the jailed process that bundles one component. Bundled to dist/libs/sandbox/build-child.cjs. */
import { Socket } from 'node:net';
import { DOWN_FD, MAX_RECORD_BYTES, RecordParser, UP_FD, type RawRecord } from '#libs/framing/records.js';
import { encodeReply, MAX_PACKAGES, MAX_SPECIFIER, type BuildOrder, type BuildReply } from './build-message.js';
import { compile, type Compiler } from './compile.js';
import { loadNative, loadWasm } from './engines.js';

/** Code of each shim, by name. Inserted when this file is bundled (../child-build.ts). */
declare const SHIM_CODE: Readonly<Record<string, string>>;

let compiler: Compiler | undefined;
/** Whether the engine reads files itself. */
let hasFiles = true;

const up = new Socket({ fd: UP_FD, readable: false, writable: true });
up.on('error', () => process.exit(1));

const say = (reply: BuildReply): void => void up.write(encodeReply(reply));

const load = async ({ engine, file, tmp }: Extract<BuildOrder, { t: 'load' }>): Promise<BuildReply> => {
  // esbuild resolves patterns from the working folder, so it moves to an empty one.
  process.chdir(tmp);
  hasFiles = engine === 'native';
  compiler = await (engine === 'native' ? loadNative(file) : loadWasm(file));
  return { kind: 'loaded' };
};

const build = async (order: Extract<BuildOrder, { t: 'build' }>, raw: Buffer): Promise<BuildReply> => {
  if (!compiler) throw new Error('the build process has no engine');
  const texts = new Map<string, string>();
  let at = 0;
  for (const [path, bytes] of order.files) texts.set(path, raw.toString('utf8', at, (at += bytes)));
  const { entry, packages, refusePatterns, bundleBytes } = order;
  const reply = await compile(compiler, {
    files: { entry, texts },
    packages,
    readsFiles: !hasFiles,
    refusePatterns,
    bundleBytes,
    shims: SHIM_CODE,
  }).catch((error: unknown): BuildReply => {
    process.stderr.write(`${String(error)}\n`);
    return { kind: 'engine_ended' };
  });
  if (reply.kind === 'bundle' && reply.bundle.length > bundleBytes)
    return { kind: 'too_large', bytes: reply.bundle.length };
  if (reply.kind !== 'wanted') return reply;
  if (reply.packages.length > MAX_PACKAGES) return { kind: 'too_many_packages', count: reply.packages.length };
  return { kind: 'wanted', packages: reply.packages.map((name) => name.slice(0, MAX_SPECIFIER)) };
};

const receive = (record: RawRecord): void => {
  const order = JSON.parse(record.json.toString('utf8')) as BuildOrder;
  // The record is a view, which the next read overwrites.
  const raw = Buffer.from(record.raw);
  const answer = order.t === 'load' ? load(order) : build(order, raw);
  answer.then(say, (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
};

const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
const parser = new RecordParser(MAX_RECORD_BYTES, receive);
down.on('data', (chunk: Buffer) => parser.push(chunk));
down.on('error', () => process.exit(1));
down.on('end', () => process.exit(0));
