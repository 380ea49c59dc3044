import { type Setting, httpUrl } from './setting.js';
import { workspaceIds } from './workspace-ids.js';

/** A bucket of an S3-compatible object storage that workflows may write to. */
export interface BucketSetting {
  readonly bucket: string;
  /** The bucket is the first part of the path below it. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Workspaces whose workflows may write there, or null for all. */
  readonly workspaces: readonly string[] | null;
}

/** Safe as a part of a path as it is. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;
const REGION = /^[A-Za-z0-9-]{1,64}$/;
/** Slashes and commas have a meaning in the header that names the key. */
const KEY_ID = /^[\x21-\x2b\x2d\x2e\x30-\x7e]{1,256}$/;
const SECRET = /^[\x21-\x7e]{1,256}$/;
const KEYS = ['bucket', 'endpoint', 'region', 'access_key_id', 'secret_access_key', 'workspaces'];

/** Its message never quotes a value that may be a secret. */
class WrongBucket extends Error {}

const bucketOf = (given: unknown, index: number): BucketSetting => {
  const entry = `entry ${index + 1}`;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new WrongBucket(`${entry} is no object with the keys ${KEYS.join(', ')}`);
  const fields = given as Readonly<Record<string, unknown>>;
  if (Object.keys(fields).some((key) => !KEYS.includes(key)))
    throw new WrongBucket(`${entry} has an unknown key; its keys are ${KEYS.join(', ')}`);
  const text = (field: string, pattern: RegExp, what: string): string => {
    const value = fields[field];
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw new WrongBucket(`${field} of ${entry} is ${value === undefined ? 'missing' : `no ${what}`}`);
  };
  const bucket = text('bucket', BUCKET, 'name of a bucket, which is 1 to 255 letters, digits, ".", "-" and "_"');
  const endpoint = httpUrl(text('endpoint', /^/, 'text'));
  if (endpoint === undefined)
    throw new WrongBucket(`endpoint of ${entry} is no http or https URL without user and query`);
  const workspaces = workspaceIds(fields['workspaces']);
  if (workspaces === undefined)
    throw new WrongBucket(`workspaces of ${entry} is neither a list of workspace ids nor "*" for all`);
  return {
    bucket,
    endpoint,
    region: text('region', REGION, 'region, such as "us-east-1" or "auto"'),
    accessKeyId: text('access_key_id', KEY_ID, 'text of visible ASCII characters without "/" and ","'),
    secretAccessKey: text('secret_access_key', SECRET, 'text of visible ASCII characters'),
    workspaces,
  };
};

const overlap = (one: BucketSetting, other: BucketSetting): boolean =>
  one.workspaces === null || other.workspaces === null || one.workspaces.some((id) => other.workspaces?.includes(id));

/** A workspace must know which bucket a name means. */
const checkNames = (buckets: readonly BucketSetting[]): void => {
  for (const [index, one] of buckets.entries()) {
    const first = buckets.slice(0, index).findIndex((other) => other.bucket === one.bucket && overlap(other, one));
    if (first >= 0)
      throw new WrongBucket(`entries ${first + 1} and ${index + 1} open the bucket ${one.bucket} to one workspace`);
  }
};

const bucketsIn = (given: string): readonly BucketSetting[] => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    throw new WrongBucket('no JSON');
  }
  if (!Array.isArray(parsed)) throw new WrongBucket('no JSON list');
  const buckets = parsed.map(bucketOf);
  checkNames(buckets);
  return buckets;
};

const s3: Setting<readonly BucketSetting[]> = {
  name: 'SLUICE_S3',
  group: 'Object storage',
  sentence:
    'Buckets to which `$.send.s3` of workflows may write, each open to its workspaces only. The endpoint may be in a private network. The runner and the webhook worker need the same value.',
  allowed:
    'JSON like [{"bucket": "events", "endpoint": "https://s3.eu-central-1.amazonaws.com", "region": "eu-central-1", "access_key_id": "…", "secret_access_key": "…", "workspaces": ["o_…"]}]; workspaces is "*" for all',
  fallback: [],
  shownDefault: 'none: no object is written',
  secret: true,
  parse: (given) => {
    try {
      return { ok: true, value: bucketsIn(given) };
    } catch (error) {
      if (error instanceof WrongBucket) return { ok: false, reason: error.message };
      throw error;
    }
  },
  show: (buckets) => buckets.map(({ bucket }) => bucket).join(','),
};

export const buckets = { s3 } as const;
