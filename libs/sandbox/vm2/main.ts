/** Entry point of the jailed child for SLUICE_ISOLATION=vm2. Bundled to dist/libs/sandbox/child-vm2.cjs. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';
import { VM } from 'vm2';
import { tunnelSockets } from '../child/egress-socket.js';
import { RunQueue } from '../child/run-queue.js';
import { Uplink } from '../child/uplink.js';
import {
  DOWN_FD,
  MAX_RECORD_BYTES,
  RecordParser,
  type ChildSettings,
  type HostMessage,
  type RawRecord,
} from '../protocol/protocol.js';
import { ES_MODULE } from '../protocol/es-module.js';
import { splitBundle } from '../protocol/source-map.js';
import { type Bridge, type Realm } from './bridge.js';
import { digestText, HostServices, randomText, urlText } from './host-services.js';
import { type RealmSettings } from './realm/settings.js';
import { thrownText } from './thrown-text.js';

declare const REALM_CODE: string;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Passes strings between the host and the realm, and keeps no object of either. */
class Vm2Child {
  private readonly uplink = new Uplink();
  private readonly current = new AsyncLocalStorage<number>();
  private readonly runs = new Set<number>();
  private readonly hooks = new Set<number>();
  private readonly queue = new RunQueue((n, event, body) => {
    this.runs.add(n);
    this.enter(n, () => this.realm.run(n, event, body?.start, body?.end));
  });
  private map: Buffer | undefined;
  private readonly vm = new VM({ wasm: false });
  private readonly services = new HostServices(() => this.realm);
  private readonly realm: Realm = this.open();

  constructor() {
    // Passes errors on unread, because reading them could run code of the realm (thrown-text.ts).
    process.on('uncaughtException', this.stray);
    process.on('unhandledRejection', this.stray);
  }

  readonly receive = (record: RawRecord): void => {
    const message = JSON.parse(record.json.toString('utf8')) as HostMessage;
    switch (message.t) {
      case 'init':
        return this.init(message.settings, record.raw);
      case 'run':
        return this.queue.add(message.runs, record.raw);
      case 'waiting':
        return this.realm.waiting(message.events.count, message.events.bytes);
      case 'drop':
        this.queue.drop();
        return this.uplink.send(['g']);
      case 'hook':
        this.hooks.add(message.n);
        return this.enter(message.n, () => this.realm.hook(message.n, message.hook));
      case 'ask': {
        const call = record.raw.toString('utf8');
        this.hooks.add(message.n);
        return this.enter(message.n, () => this.realm.ask(message.n, call));
      }
      case 'a': {
        const { code = '', message: text = '' } = message.error ?? {};
        return this.realm.stored(message.id, record.raw.toString('utf8'), code, text);
      }
    }
  };

  private open(): Realm {
    this.vm.setGlobal('$bridge', this.bridge());
    // Evaluates to proxies of the realm's functions. Each property is read once.
    const { prepare, run, hook, waiting, ask, fire, answer, fail, stored } = this.vm.run(
      `(() => {${REALM_CODE}\nreturn realm.realm; })()`,
      'sluice-realm.js',
    ) as Realm;
    return { prepare, run, hook, waiting, ask, fire, answer, fail, stored };
  }

  private init(settings: ChildSettings, raw: Buffer): void {
    const { code, map } = splitBundle(raw);
    this.map = map;
    for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
    process.chdir(settings.tmp);
    tunnelSockets(settings.egress);
    this.queue.concurrency = settings.concurrency;
    const { sourceId, props, dynamicProps = [], db, inspect } = settings;
    const { platform, version } = process;
    const facts = { sourceId, props, dynamicProps, db, inspect, platform, version } satisfies RealmSettings;
    this.realm.prepare(JSON.stringify(facts));
    if (code.startsWith(ES_MODULE)) {
      const message = 'top-level await does not work with SLUICE_ISOLATION=vm2: move it into run, a hook or a method';
      this.uplink.send(['loadfail', { name: 'SyntaxError', message, stack: '', code: 'SyntaxError' }]);
      return this.uplink.flush();
    }
    try {
      // Keeps the wrapper on the code's first line, so that line numbers in errors are correct.
      this.vm.run(`$load(function (exports, require, module, __filename, __dirname) {${code}\n})`, 'component.js');
    } catch (thrown) {
      const { name, message } = thrownText(thrown);
      this.uplink.send(['loadfail', { name, message, stack: '', code: name }]);
    }
    this.uplink.flush();
  }

  private enter(n: number, call: () => void): void {
    this.uplink.flushIfOlderThan(5);
    this.uplink.send(['s', n, Date.now()]);
    this.uplink.spill();
    this.current.run(n, call);
  }

  private readonly stray = (thrown: unknown): void => {
    const { name, message } = thrownText(thrown);
    this.realm.fail(this.current.getStore() ?? -1, name, message);
  };

  /** Functions for the realm. They accept and return only strings and numbers, and never throw. */
  private bridge(): Bridge {
    const { uplink, services } = this;
    return {
      say: (json, raw) => {
        if (!isText(json) || !isText(raw)) return;
        uplink.sendText(json, raw);
        uplink.spill();
      },
      done: (n, json) => {
        if (!isNumber(n) || !isText(json)) return;
        if (this.runs.delete(n)) {
          uplink.sendText(json, '');
          this.queue.ended();
        } else if (this.hooks.delete(n)) uplink.sendText(json, '');
      },
      flush: () => uplink.flush(),
      sourceMap: () => this.map?.toString('utf8') ?? '',
      current: () => this.current.getStore() ?? -1,
      now: () => performance.now(),
      setTimer: (id, ms, every) => {
        if (isNumber(id) && isNumber(ms) && isNumber(every)) services.setTimer(id, ms, every);
      },
      clearTimer: (id) => {
        if (isNumber(id)) services.clearTimer(id);
      },
      randomBytes: (count) => (isNumber(count) ? randomText(count) : ''),
      digest: (algorithm, keyed, key, data) =>
        isText(algorithm) && isText(key) && isText(data) ? digestText(algorithm, keyed, key, data) : '',
      url: (href, base, part, value) =>
        isText(href) && isText(base) && isText(part) && isText(value) ? urlText(href, base, part, value) : '',
      fetch: (id, request, body) => {
        if (isNumber(id) && isText(request) && isText(body)) services.fetch(id, request, body);
      },
      abortFetch: (id) => {
        if (isNumber(id)) services.abortFetch(id);
      },
    };
  }
}

const start = (): void => {
  const child = new Vm2Child();
  const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
  const parser = new RecordParser(MAX_RECORD_BYTES, child.receive);
  down.on('data', (chunk: Buffer) => parser.push(chunk));
  down.on('error', () => process.reallyExit(1));
  down.on('end', () => process.reallyExit(0));
};

start();
