import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endsWithUs } from '../harness/ends-with-us.js';
import { goProgram } from '../harness/go-program.js';
import { removeDir, tempDir } from '../harness/temp-dir.js';
import { type Certified } from './certificates.js';

export interface FerretDbOptions {
  /** Default: any free port, kept over restarts. */
  readonly port?: number;
  /** Folder of its files. Default: a new one, removed by `stop`. */
  readonly dir?: string;
  /** Take connections with TLS only, with this certificate. */
  readonly tls?: Certified;
  /** Let in this user only. */
  readonly user?: { readonly name: string; readonly password: string; readonly database: string };
}

/** FerretDB with its SQLite backend, a stand-in for mongod. docs/adr/0014-mongodb.md lists what it can show. */
export interface FerretDb {
  /** Ends with a slash, after which a database name may follow. */
  readonly url: string;
  /** Id of the current process, or of the last one. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** Starts it after `kill9` on the same port and files. */
  start(): Promise<void>;
  /** Ends it, and removes its folder if it created one. Idempotent. */
  stop(): Promise<void>;
}

interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const FERRETDB = 'vendor/github.com/FerretDB/FerretDB/internal';

const PATCHES: readonly Patch[] = [
  // As a library, FerretDB cannot be told to check users. Its own program can, so the handler knows how.
  {
    file: 'vendor/github.com/FerretDB/FerretDB/ferretdb/ferretdb.go',
    from: '\t\tTestOpts: registry.TestOpts{\n',
    to: `		SetupDatabase: os.Getenv("FERRETDB_SETUP_DATABASE"),
		SetupUsername: os.Getenv("FERRETDB_SETUP_USERNAME"),
		SetupPassword: password.WrapPassword(os.Getenv("FERRETDB_SETUP_PASSWORD")),

		TestOpts: registry.TestOpts{
			EnableNewAuth: os.Getenv("FERRETDB_SETUP_DATABASE") != "",
`,
  },
  {
    file: 'vendor/github.com/FerretDB/FerretDB/ferretdb/ferretdb.go',
    from: '\t"net/url"\n',
    to: '\t"net/url"\n\t"os"\n\n\t"github.com/FerretDB/FerretDB/internal/util/password"\n',
  },
  // The index of `_id` is built on one expression and queried by another. So each look-up, update and deletion by `_id`
  // read the whole collection.
  {
    file: `${FERRETDB}/backends/sqlite/metadata/metadata.go`,
    from: `IDColumn = DefaultColumn + "->'$._id'"`,
    to: 'IDColumn = DefaultColumn + `->"_id"`',
  },
  // FerretDB looks documents up by `_id` only when the filter has nothing else. Other filters, such as a guarded write
  // (`_id` and a revision) or a list of a source's documents, read the whole collection. With this patch it looks up
  // fields that equal a text, for which SQLite has the created indexes. The filter is applied to the results either
  // way. Only arrays that contain the text would be missed, and none of our filters looks for any.
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
  // Each write of a bulk keeps one of a hundred shared SQLite connections until the last write is done. So two bulks of
  // fifty or more deadlock.
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
  let running = await launch(binary, dir, options.port ?? 0, options);
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
      running = await launch(binary, dir, running.port, options);
    },
    stop: async () => {
      await end('SIGTERM');
      if (options.dir === undefined) removeDir(dir);
    },
  };
};

/** Path of the program, which is built from `ferretdb/main.go` unless it is in the cache. */
export const ferretDbBinary = (): Promise<string> =>
  goProgram({
    name: 'ferretdb',
    what: 'FerretDB, the stand-in for MongoDB,',
    without: 'install Go, or set SLUICE_MONGO_URL to a real mongod',
    folder: 'test/engines/ferretdb',
    salt: JSON.stringify(PATCHES),
    prepare: (build) => PATCHES.forEach((patch) => apply(build, patch)),
  });

const apply = (build: string, { file, from, to }: Patch): void => {
  const source = readFileSync(join(build, file), 'utf8');
  if (!source.includes(from)) throw new Error(`FerretDB could not be built: ${file} has no "${from.trim()}" to patch`);
  writeFileSync(join(build, file), source.replaceAll(from, to));
};

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

/** Resolves when it listens. */
const launch = async (
  binary: string,
  dir: string,
  port: number,
  { tls, user }: Pick<FerretDbOptions, 'tls' | 'user'>,
): Promise<Running> => {
  const certificate = tls ? ['-certificate', tls.certificate, '-key', tls.key] : [];
  const child = spawn(binary, ['-listen', `127.0.0.1:${port}`, '-dir', `${dir}/`, ...certificate], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
    env: {
      ...process.env,
      FERRETDB_SETUP_DATABASE: user?.database,
      FERRETDB_SETUP_USERNAME: user?.name,
      FERRETDB_SETUP_PASSWORD: user?.password,
    },
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
