import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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

/** Native addon of Node that exports \`answer\`, 42. */
export class NativeAddon {
  private constructor(readonly code: Buffer) {}

  /** Builds the addon, or returns the reason why it cannot be built here. */
  static async build(): Promise<NativeAddon | string> {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    try {
      const source = path.join(dir, 'addon.c');
      const file = path.join(dir, 'addon.node');
      await writeFile(source, SOURCE);
      await promisify(execFile)('gcc', ['-shared', '-fPIC', '-O1', '-o', file, source]);
      return new NativeAddon(await readFile(file));
    } catch (error) {
      return `gcc cannot build it: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`;
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
}
