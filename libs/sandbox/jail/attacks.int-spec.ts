import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type RunOutcome, type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';
import { tryLevel } from './detect.js';
import { type JailLevel, type JailName } from './jail-level.js';
import { MAX_TMP_FILES } from './node-flags.js';
import { isCarried, type Protection } from './promises.js';

/** Runs one piece of Node code and emits its return value. */
const attacker = `
  export default {
    name: 'attacker', version: '1',
    async run({ code, args }) {
      const AsyncFunction = (async () => {}).constructor;
      this.$emit(await new AsyncFunction('require', 'process', 'emit', 'args', code)(require, process, this.$emit, args));
    },
  };`;
const honest = `export default { name: 'honest', version: '1', run(event) { this.$emit(event); } };`;

const NAMES: readonly JailName[] = ['jail (bwrap)', 'jail (unshare)', 'process'];
const available = new Map<JailName, JailLevel>();
for (const name of NAMES) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.set(name, level);
}

describe.each([...available.values()])('attacks in $name', (level) => {
  /** Tests a protection, and skips the test at a level that does not promise it. */
  const promised = (protection: Protection, name: string, run: () => Promise<void>): void => {
    if (isCarried(level, protection)) it(name, run);
    else it.skip(`not promised at ${level.name}: ${name}`, run);
  };
  let sandboxes: ComponentSandboxes;
  let secretDir: string;
  let server: Server;
  let connections = 0;
  let bystander: Sandbox;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(level, { limits: { memoryMb: 128, tmpMb: 16 } });
    secretDir = await mkdtemp(path.join(tmpdir(), 'sluice-secret-'));
    await writeFile(path.join(secretDir, 'key'), 'the host secret');
    server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bystander = await sandboxes.start(honest);
  });

  afterAll(async () => {
    await sandboxes.close();
    await new Promise((resolve) => server.close(resolve));
    await rm(secretDir, { recursive: true, force: true });
  });

  const attack = async (code: string, args: unknown = {}, timeoutMs = 5_000): Promise<RunOutcome> => {
    const sandbox = await sandboxes.start(attacker);
    const event = JSON.stringify({ code, args });
    const outcome = await sandbox.run({ invocationId: 'inv_attack', event, timeoutMs });
    await sandbox.stop();
    return outcome;
  };
  const emitted = (outcome: RunOutcome): unknown => JSON.parse(outcome.emits.at(-1)?.payload ?? 'null');
  const expectOthersUnharmed = async (): Promise<void> => {
    const outcome = await bystander.run({ invocationId: 'inv_honest', event: '{"fine":true}', timeoutMs: 5_000 });
    expect(outcome).toMatchObject({ status: 'ok', emits: [{ payload: '{"fine":true}' }] });
  };

  it.each(['/etc/passwd', '/etc/shadow', '/proc/1/environ', '/proc/self/mountinfo', process.execPath])(
    'cannot read %s',
    async (file) => {
      const outcome = await attack(`return require('fs').readFileSync(args, 'latin1').length`, file);
      expect(outcome.status).toBe('threw');
      expect(outcome.emits).toEqual([]);
    },
  );

  it('cannot read a file of the host, nor list its folders', async () => {
    expect((await attack(`return require('fs').readFileSync(args, 'utf8')`, `${secretDir}/key`)).status).toBe('threw');
    const list = await attack(
      `return ['/', '/home', '/root', '/tmp', args].flatMap((d) => { try { return require('fs').readdirSync(d) } catch { return [] } })`,
      secretDir,
    );
    const seen = emitted(list) as string[];
    expect(seen).not.toContain('key');
    expect(seen).not.toContain('home');
  });

  it('cannot see the environment of the server', async () => {
    process.env.SLUICE_TEST_SECRET = 'from the parent';
    const outcome = await attack(`return process.env`);
    delete process.env.SLUICE_TEST_SECRET;
    expect(Object.keys(emitted(outcome) as object)).toEqual(['PD_COMPONENT']);
  });

  it('cannot connect to an internal server', async () => {
    const { port } = server.address() as AddressInfo;
    const outcome = await attack(
      `return new Promise((resolve) => require('net').connect(args, '127.0.0.1').on('error', (e) => resolve(e.code)).on('connect', () => resolve('connected')))`,
      port,
    );
    expect(emitted(outcome)).toBe('EACCES');
    expect(connections).toBe(0);
  });

  promised('network', 'cannot connect below what was patched', async () => {
    const { port } = server.address() as AddressInfo;
    const raw = await attack(
      `const { TCP, TCPConnectWrap, constants } = process.binding('tcp_wrap');
       const handle = new TCP(constants.SOCKET);
       return new Promise((resolve) => {
         const req = new TCPConnectWrap();
         req.oncomplete = (status) => resolve(status === 0 ? 'connected' : 'failed');
         const code = handle.connect(req, '127.0.0.1', args);
         if (code) resolve('failed');
       })`,
      port,
    );
    expect(emitted(raw)).not.toBe('connected');
    const udp = await attack(
      `return new Promise((resolve) => { const s = require('dgram').createSocket('udp4'); s.on('error', (e) => resolve(e.code)); s.send('x', 53, '8.8.8.8', (e) => resolve(e ? e.code : 'sent')) })`,
    );
    expect(emitted(udp)).not.toBe('sent');
    expect(connections).toBe(0);
  });

  it.each([
    `require('child_process').execSync('id')`,
    `require('child_process').spawnSync(process.execPath, ['-e', '1']).error ?? (() => { throw new Error('spawned') })()`,
    `new (require('worker_threads').Worker)('process.kill(1)', { eval: true })`,
    `process.dlopen({ exports: {} }, '/tmp/x.node')`,
  ])('cannot start another program: %s', async (code) => {
    const outcome = await attack(`const r = ${code}; if (r instanceof Error) throw r; return 'started'`);
    expect(outcome.status).not.toBe('ok');
    await expectOthersUnharmed();
  });

  it("allows what components need: Node's own threads, wasm, files, compression, ciphers", async () => {
    const outcome = await attack(
      `const { promisify } = require('util'), fs = require('fs'), os = require('os'), crypto = require('crypto'), zlib = require('zlib');
       const wasm = await WebAssembly.instantiate(Buffer.from('0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b', 'hex'));
       const f = os.tmpdir() + '/works';
       await fs.promises.writeFile(f, 'kept');
       const shared = new Int32Array(new SharedArrayBuffer(1024));
       return {
         wasm: wasm.instance.exports.add(40, 2),
         file: await fs.promises.readFile(f, 'utf8'),
         zip: (await promisify(zlib.gunzip)(await promisify(zlib.gzip)('zipped'))).toString(),
         brotli: zlib.brotliDecompressSync(zlib.brotliCompressSync('small')).toString(),
         key: (await promisify(crypto.scrypt)('a', 'b', 8)).length,
         pair: (await promisify(crypto.generateKeyPair)('ed25519')).privateKey.type,
         random: crypto.randomUUID().length,
         wait: Atomics.wait(shared, 0, 0, 1),
         dns: await require('dns').promises.lookup('no.such.test').then(() => 'found', (e) => e.code !== undefined),
         hrtime: typeof process.hrtime.bigint(),
         intl: new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin' }).format(0),
       };`,
      {},
      20_000,
    );
    expect(outcome.error).toBeUndefined();
    expect(emitted(outcome)).toMatchObject({
      wasm: 42,
      file: 'kept',
      zip: 'zipped',
      brotli: 'small',
      key: 8,
      pair: 'private',
      random: 36,
      wait: 'timed-out',
      dns: true,
      hrtime: 'bigint',
      intl: '1.1.1970',
    });
  });

  it('survives a fork bomb', async () => {
    const outcome = await attack(
      `let n = 0; for (let i = 0; i < 1000; i++) { try { require('child_process').spawn(process.execPath, ['-e', 'for(;;);']); n++ } catch {} } return n`,
    );
    expect([null, 0]).toContain(emitted(outcome));
    await expectOthersUnharmed();
  });

  it('stops 2 GB of Buffers', async () => {
    const outcome = await attack(
      `const kept = []; for (let i = 0; i < 2048; i++) kept.push(Buffer.alloc(1024 * 1024, 1)); return kept.length`,
      {},
      20_000,
    );
    expect(outcome.status).not.toBe('ok');
    await expectOthersUnharmed();
  });

  it('stops an endlessly growing heap as OutOfMemory', async () => {
    const outcome = await attack(`const kept = []; for (;;) kept.push(new Array(1e5).fill(Math.random()))`, {}, 20_000);
    expect(outcome).toMatchObject({ status: 'killed', error: { code: 'OutOfMemory' } });
    await expectOthersUnharmed();
  });

  it('ends an endless loop as Timeout, naming the limit, and keeps earlier output', async () => {
    const outcome = await attack(`emit('before'); console.log('said'); for (;;);`, {}, 300);
    expect(outcome).toMatchObject({
      status: 'killed',
      error: { code: 'Timeout', message: expect.stringContaining('300 ms') },
      emits: [{ payload: '"before"' }],
      logs: [{ k: 'console.log', msg: 'said' }],
    });
    await expectOthersUnharmed();
  });

  it('bounds a flood of emits and of their size', async () => {
    const many = await attack(`for (let i = 0; ; i++) emit(i)`);
    expect(many).toMatchObject({ status: 'threw', error: { code: 'FunctionPayloadLimitExceeded' } });
    expect(many.emits).toHaveLength(10_000);
    const large = await attack(`for (;;) emit('x'.repeat(1024 * 1024))`);
    expect(large).toMatchObject({ status: 'threw', error: { code: 'FunctionPayloadLimitExceeded' } });
    expect(large.emits).toHaveLength(5);
    await expectOthersUnharmed();
  });

  it('survives a million emits whose refusals are caught', async () => {
    const outcome = await attack(
      `Error.stackTraceLimit = 0;
       let refused = 0;
       for (let i = 0; i < 1e6; i++) try { emit(i) } catch (error) { refused++ }
       console.log(refused);`,
      {},
      60_000,
    );
    // The last emit is the attacker's own answer, which is refused too.
    expect(outcome).toMatchObject({ status: 'threw', error: { code: 'FunctionPayloadLimitExceeded' } });
    expect([outcome.emits.length, outcome.logs[0]?.msg]).toEqual([10_000, '990000']);
    await expectOthersUnharmed();
  }, 120_000);

  it('refuses an emit of 10 MB and JSON that nests too deep, with errors that a component can catch', async () => {
    const outcome = await attack(
      `const deep = (levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
       const said = [];
       for (const event of ['x'.repeat(10 * 1024 * 1024 - 2), deep(257), deep(1e5)])
         try { emit(event) } catch (error) { said.push(error.message) }
       return said`,
    );
    expect(emitted(outcome)).toEqual([
      expect.stringMatching(/^\$emit: this run would send 104857\d\d bytes, at most 6291456/),
      '$emit: the value nests more than 256 levels deep',
      expect.stringMatching(/^\$emit: the value cannot be written as JSON: Maximum call stack/),
    ]);
    await expectOthersUnharmed();
  });

  it('cannot pollute prototypes of the host', async () => {
    const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype];
    const before = prototypes.map((each) => Reflect.ownKeys(each));
    const polluted = `JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1,"then":1}')`;
    const said = await attack(
      `const evil = ${polluted};
       emit(evil, { id: '__proto__', name: '__proto__', summary: 'constructor' });
       console.log('%o', evil);
       throw Object.assign(new Error('evil'), evil, { name: '__proto__', code: 'constructor', cause: evil });`,
    );
    expect(said).toMatchObject({ status: 'threw', error: { name: '__proto__', code: 'constructor' } });
    expect(said.emits[0]).toMatchObject({ channel: '__proto__', id: '__proto__' });
    expect(said.emits[0]?.payload).toBe(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1,"then":1}',
    );
    for (const [head, message] of [
      ['["d",1,0,{"name":"n","message":"m","stack":"","code":"c","__proto__":{"polluted":1}}]', /malformed message/],
      ['{"0":"e","1":1,"length":6,"__proto__":{"polluted":1}}', /a message that is no array/],
      // The record is well-formed, but the process's next record is then out of order.
      ['["r",1,200,{"__proto__":["x"],"constructor":"x"},0,0]', /a record out of order|malformed message/],
      ['["b",1,"__proto__",0]', /a record out of order/],
    ] as const) {
      // Written at once, and so before the process's own records of this run.
      const forged = await attack(
        `const head = Buffer.from(args), raw = Buffer.from('{"polluted":1}'), record = Buffer.alloc(12);
         record.writeUInt32LE(2, 0); record.writeUInt32LE(head.length, 4); record.writeUInt32LE(raw.length, 8);
         await new Promise((resolve) => setTimeout(resolve, 50));
         require('fs').writeSync(4, Buffer.concat([record, head, raw]));
         await new Promise((resolve) => setTimeout(resolve, 100));`,
        head,
      );
      expect(forged).toMatchObject({ status: 'killed', error: { message: expect.stringMatching(message) } });
    }
    expect(prototypes.map((each) => Reflect.ownKeys(each))).toEqual(before);
    expect('polluted' in {}).toBe(false);
    await expectOthersUnharmed();
  });

  it('bounds a flood of logs, and reports that in a line', async () => {
    const lines = await attack(`for (let i = 0; i < 1e5; i++) console.log(i); return 'done'`);
    expect(emitted(lines)).toBe('done');
    expect(lines.logs).toHaveLength(1_001);
    expect(lines.logs[999]?.msg).toBe('999');
    expect(lines.logs.at(-1)?.msg).toContain('dropped');
    const long = await attack(`console.log('x'.repeat(1e6)); process.stderr.write('y'.repeat(1e6)); return 'done'`);
    expect(long.logs.map(({ msg }) => msg).join('').length).toBeLessThan(300 * 1024);
  });

  it('ends a process that writes garbage, or a giant frame, to the protocol', async () => {
    const garbage = await attack(
      `require('fs').writeSync(4, require('crypto').randomBytes(4096)); await new Promise(() => {})`,
    );
    expect(garbage).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
    const giant = await attack(
      `const head = Buffer.alloc(12); head.writeUInt32LE(0xfffffff0, 8); require('fs').writeSync(4, head); await new Promise(() => {})`,
    );
    expect(giant.error?.message).toContain('exceeds the limit');
    const forged = await attack(
      `const json = JSON.stringify(['e', 999, '', null, null, null]); const head = Buffer.alloc(12);
       head.writeUInt32LE(args, 0); head.writeUInt32LE(json.length, 4); await new Promise(setImmediate);
       require('fs').writeSync(4, Buffer.concat([head, Buffer.from(json)])); await new Promise(() => {})`,
      2,
    );
    expect(forged.error?.message).toContain('run 999');
    await expectOthersUnharmed();
  });

  it('survives the protocol sockets being closed', async () => {
    const outcome = await attack(`require('fs').closeSync(4); require('fs').closeSync(3); return 1`);
    expect(outcome.status).toBe('killed');
    await expectOthersUnharmed();
  });

  it('reports process.exit and a crash as ProcessExited', async () => {
    expect(await attack(`emit(1); process.exit(7)`)).toMatchObject({
      status: 'killed',
      error: { code: 'ProcessExited', message: expect.stringContaining('exit code 7') },
      emits: [{ payload: '1' }],
    });
    expect(await attack(`process.abort()`)).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
  });

  it('can write only to its /tmp, up to a limit', async () => {
    for (const file of ['/x', '/child.cjs', '/etc/x', '/dev/x', '/usr/x', `${secretDir}/x`])
      expect((await attack(`require('fs').writeFileSync(args, 'x')`, file)).status).toBe('threw');
    expect(await readdir(secretDir)).toEqual(['key']);
    const large = await attack(
      `const fs = require('fs'); const f = process.cwd() + '/large'; for (let i = 0; i < 64; i++) fs.appendFileSync(f, Buffer.alloc(1024 * 1024))`,
    );
    expect(large.status).not.toBe('ok');
    await expectOthersUnharmed();
  });

  promised('tmp_size', 'can use its /tmp, up to its size', async () => {
    const own = await attack(
      `const f = require('os').tmpdir() + '/x'; require('fs').writeFileSync(f, 'mine'); return require('fs').readFileSync(f, 'utf8')`,
    );
    expect(emitted(own)).toBe('mine');
    const full = await attack(
      `const fs = require('fs'); for (let i = 0; i < 64; i++) fs.writeFileSync(require('os').tmpdir() + '/' + i, Buffer.alloc(1024 * 1024))`,
    );
    expect(full).toMatchObject({ status: 'threw', error: { code: 'ENOSPC' } });
  });

  promised('tmp_files', 'cannot fill /tmp with empty files', async () => {
    const outcome = await attack(
      `const fs = require('fs'); for (let i = 0; i < args; i++) fs.closeSync(fs.openSync(require('os').tmpdir() + '/' + i, 'w')); return 'made'`,
      2 * MAX_TMP_FILES,
      20_000,
    );
    expect(outcome).toMatchObject({ status: 'threw', error: { code: 'ENOSPC' } });
    // A twentieth of that is allowed.
    const harmless = await attack(
      `const fs = require('fs'); for (let i = 0; i < args; i++) fs.closeSync(fs.openSync(require('os').tmpdir() + '/' + i, 'w')); return 'made'`,
      Math.floor(MAX_TMP_FILES / 10),
      20_000,
    );
    expect(emitted(harmless)).toBe('made');
    await expectOthersUnharmed();
  });

  // Never run where it is not promised: it would end every process of the user who runs the tests.
  promised('server_process', 'cannot kill a process of the host', async () => {
    await attack(
      `try { process.kill(args, 'SIGKILL') } catch {} process.kill(-1, 'SIGKILL'); return 'alive'`,
      process.pid,
    );
    await expectOthersUnharmed();
  });

  it('does not let a source see files that another left in /tmp', async () => {
    await attack(`require('fs').writeFileSync(process.cwd() + '/left', 'secret')`);
    const outcome = await attack(`return require('fs').readdirSync(process.cwd())`);
    expect(emitted(outcome)).toEqual([]);
  });
});
