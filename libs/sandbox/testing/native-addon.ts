import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Declares the few functions of Node's C interface that it needs, so that no header is needed. */
const SOURCE = `
typedef struct napi_env__ *napi_env; typedef struct napi_value__ *napi_value;
extern int napi_create_int32(napi_env, int, napi_value *);
extern int napi_set_named_property(napi_env, napi_value, const char *, napi_value);
napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value answer;
  napi_create_int32(env, 42, &answer);
  napi_set_named_property(env, exports, "answer", answer);
  return exports;
}
`;

const PROBE = fileURLToPath(new URL('./native-probe.c', import.meta.url));

/** Native addon of Node. That of `build` exports `answer`, 42. */
export class NativeAddon {
  private constructor(readonly code: Buffer) {}

  /** Builds the addon, or returns the reason why it cannot be built here. */
  static build(): Promise<NativeAddon | string> {
    return NativeAddon.compile(async (dir) => {
      const source = path.join(dir, 'addon.c');
      await writeFile(source, SOURCE);
      return [source];
    });
  }

  /** Builds native-probe.c as an addon that exports `run(task)`, which returns JSON, or returns the reason why not. */
  static buildProbe(): Promise<NativeAddon | string> {
    return NativeAddon.compile(() => Promise.resolve(['-DNATIVE_ADDON', PROBE]));
  }

  private static async compile(inputs: (dir: string) => Promise<readonly string[]>): Promise<NativeAddon | string> {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    try {
      const file = path.join(dir, 'addon.node');
      await promisify(execFile)('gcc', ['-shared', '-fPIC', '-O1', '-o', file, ...(await inputs(dir))]);
      return new NativeAddon(await readFile(file));
    } catch (error) {
      return `gcc cannot build it: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`;
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
}
