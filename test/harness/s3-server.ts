import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { AwsClient } from 'aws4fetch';
import { endsWithUs } from './ends-with-us.js';
import { goProgram } from './go-program.js';

export interface StoredObject {
  readonly key: string;
  readonly text: string;
  readonly headers: Headers;
}

const KEY = { accessKeyId: 'AKIATEST', secretAccessKey: 'a/secret+access=key' };
const REGION = 'eu-test-1';

/**
 * An S3-compatible object storage in a process of its own. It checks signatures. The program is built from `s3/main.go`
 * unless it is in the cache, which needs Go and its module proxy once.
 */
export class S3Server {
  private readonly client = new AwsClient({ ...KEY, region: REGION, service: 's3', retries: 0 });

  private constructor(
    private readonly child: ChildProcess,
    readonly endpoint: string,
  ) {}

  static async start(...buckets: readonly string[]): Promise<S3Server> {
    const binary = await goProgram({
      name: 's3',
      what: 'gofakes3, the object storage of tests,',
      without: 'install Go',
      folder: 'test/harness/s3',
    });
    const { accessKeyId, secretAccessKey } = KEY;
    const args = ['-id', accessKeyId, '-secret', secretAccessKey, '-buckets', buckets.join()];
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    endsWithUs(child);
    const [first] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return new S3Server(child, `http://${first.replace('listening on ', '')}`);
  }

  /** An entry of SLUICE_S3. */
  entry(bucket: string, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = KEY;
    const { endpoint } = this;
    return { bucket, endpoint, region: REGION, access_key_id, secret_access_key, workspaces: '*', ...more };
  }

  async objects(bucket: string): Promise<readonly StoredObject[]> {
    const list = await (await this.client.fetch(`${this.endpoint}/${bucket}?list-type=2&encoding-type=url`)).text();
    const keys = [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key.replaceAll('+', '%20'));
    return Promise.all(
      keys.map(async (key) => {
        const reply = await this.client.fetch(`${this.endpoint}/${bucket}/${key}`);
        return { key: decodeURIComponent(key), text: await reply.text(), headers: reply.headers };
      }),
    );
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
