import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { endsWithUs } from '../harness/ends-with-us.js';
import { ROOT } from '../harness/paths.js';
import { removeDir, tempDir } from '../harness/temp-dir.js';

export interface FerretDbOptions {
  /** Default: any free one, kept over restarts. */
  readonly port?: number;
  /** Folder of its files. Default: one of its own, removed by `stop`. */
  readonly dir?: string;
}

/** FerretDB with its SQLite backend, as a stand-in for mongod (what it can show: docs/adr/0014). */
export interface FerretDb {
  /** Ends with a slash; a database's name may follow. */
  readonly url: string;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** After `kill9`: the same port, the same files. */
  start(): Promise<void>;
  /** Ends it and removes its folder if it made one. Idempotent. */
  stop(): Promise<void>;
}

const SOURCES = ['main.go', 'go.mod'] as const;
const BUILD_MS = 10 * 60_000;

interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const FERRETDB = 'vendor/github.com/FerretDB/FerretDB/internal';

const PATCHES: readonly Patch[] = [
  // The index of `_id` is made of one expression and asked for by another: each look-up, update and deletion by `_id` read
  // the whole collection.
  {
    file: `${FERRETDB}/backends/sqlite/metadata/metadata.go`,
    from: `IDColumn = DefaultColumn + "->'$._id'"`,
    to: 'IDColumn = DefaultColumn + `->"_id"`',
  },
  // Documents are looked up by `_id` when the filter has nothing besides; anything else, as a guarded write (`_id` and a
  // revision) or a list of what a source has, reads the whole collection. With this, fields that equal a text are
  // looked up, for which SQLite has the indexes that were created. The filter is applied to what was found either way;
  // only arrays that contain the text would be missed, and no filter of ours looks for any.
  {
    file: `${FERRETDB}/backends/sqlite/collection.go`,
    from: `	if params.Filter.Len() == 1 {
		v, _ := params.Filter.Get("_id")
		switch v.(type) {
		case string, types.ObjectID:
			whereClause = fmt.Sprintf(\` WHERE %s = ?\`, metadata.IDColumn)
			args = []any{string(must.NotFail(sjson.MarshalSingleValue(v)))}
		}
	}
`,
    to: `	for _, key := range params.Filter.Keys() {
		v, isText := must.NotFail(params.Filter.Get(key)).(string)
		if !isText || strings.ContainsAny(key, ".$") {
			continue
		}
		column := fmt.Sprintf("%s->%q", metadata.DefaultColumn, key)
		if whereClause == "" {
			whereClause = " WHERE "
		} else {
			whereClause += " AND "
		}
		whereClause += column + " = ?"
		args = append(args, string(must.NotFail(sjson.MarshalSingleValue(v))))
	}
`,
  },
  // Each write of a bulk keeps a connection to SQLite until the last one is done, of a hundred for all clients: two
  // bulks of fifty and more wait for each other for ever.
  {
    file: `${FERRETDB}/handler/msg_update.go`,
    from: '\t\tdefer closer.Close()\n',
    to: '',
  },
  {
    file: `${FERRETDB}/handler/msg_update.go`,
    from: '\t\tresult, err := common.UpdateDocument(ctx, c, "update", iter, &u)\n',
    to: '\t\tresult, err := common.UpdateDocument(ctx, c, "update", iter, &u)\n\t\tcloser.Close()\n',
  },
];

export const startFerretDb = async (options: FerretDbOptions = {}): Promise<FerretDb> => {
  const binary = await ferretDbBinary();
  const dir = options.dir ?? tempDir('ferretdb');
  mkdirSync(dir, { recursive: true });
  let running = await launch(binary, dir, options.port ?? 0);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const { child } = running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return {
    url: `mongodb://127.0.0.1:${running.port}/`,
    get pid() {
      return running.pid;
    },
    kill9: () => end('SIGKILL'),
    start: async () => {
      running = await launch(binary, dir, running.port);
    },
    stop: async () => {
      await end('SIGTERM');
      if (options.dir === undefined) removeDir(dir);
    },
  };
};

/** Path of the program, built from `ferretdb/main.go` when it is not in the cache yet. */
export const ferretDbBinary = async (): Promise<string> => {
  const cache = join(process.env.SLUICE_ENGINES_CACHE ?? join(homedir(), '.cache', 'sluice-engines'), 'ferretdb');
  const sources = SOURCES.map((name) => ({ name, text: readFileSync(join(ROOT, 'test/engines/ferretdb', name)) }));
  const hash = createHash('sha256');
  for (const { text } of sources) hash.update(text);
  hash.update(JSON.stringify(PATCHES));
  const binary = join(cache, `ferretdb-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(binary)) return binary;
  mkdirSync(cache, { recursive: true });
  // A folder of its own, then one rename: two that build at once do not see each other's halves.
  const build = mkdtempSync(join(cache, 'building-'));
  try {
    for (const { name, text } of sources) writeFileSync(join(build, name), text);
    await go(build, ['get', '.']);
    await go(build, ['mod', 'vendor']);
    for (const patch of PATCHES) apply(build, patch);
    await go(build, ['build', '-mod=vendor', '-o', 'ferretdb', '.']);
    renameSync(join(build, 'ferretdb'), binary);
  } finally {
    removeDir(build);
  }
  return binary;
};

const apply = (build: string, { file, from, to }: Patch): void => {
  const source = readFileSync(join(build, file), 'utf8');
  if (!source.includes(from)) throw new Error(`FerretDB could not be built: ${file} has no "${from.trim()}" to patch`);
  writeFileSync(join(build, file), source.replaceAll(from, to));
};

const go = async (cwd: string, args: readonly string[]): Promise<void> => {
  try {
    await promisify(execFile)('go', args, { cwd, timeout: BUILD_MS, env: process.env });
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') {
      throw new Error(
        'FerretDB, the stand-in for MongoDB, is built with Go 1.23 or later, and there is no `go` in PATH: ' +
          'install Go, or set SLUICE_MONGO_URL to a real mongod',
        { cause: error },
      );
    }
    throw new Error(`FerretDB could not be built, go ${args.join(' ')}: ${String(error)}`, { cause: error });
  }
};

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

/** Resolves when it listens. */
const launch = async (binary: string, dir: string, port: number): Promise<Running> => {
  const child = spawn(binary, ['-listen', `127.0.0.1:${port}`, '-dir', `${dir}/`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
  });
  endsWithUs(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const listening = /^listening on .*:(\d+)$/.exec(line);
    if (listening && child.pid !== undefined) {
      child.stdout.resume();
      return { child, pid: child.pid, port: Number(listening[1]) };
    }
  }
  throw new Error(`FerretDB ended before it listened: ${said}`);
};
