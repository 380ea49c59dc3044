import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { type Dispatcher } from 'undici';
import { type Clock } from '#libs/kernel/clock.js';
import { type ObjectMessage, type SentMessage } from '#libs/stream-log/message-records.js';
import { type AttemptRequest, type AttemptResult, outcomeOf } from './http-attempt.js';
import { type MessageAttempt, httpMessageAttempt, refused } from './message-attempt.js';
import { type DeliveryLogger } from './webhook-settings.js';

/** A bucket of an S3-compatible object storage, with the key to it. */
export interface OpenBucket {
  readonly bucket: string;
  /** URL without a slash at its end. The bucket is the first part of the path below it. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface ObjectPorts {
  /** The bucket of that name that the operator opens to the workspace. */
  readonly bucketOf: (bucket: string, workspaceId: string) => OpenBucket | undefined;
  /** Reaches the endpoints, which the operator chose, also in private networks. */
  readonly dispatcher: Dispatcher;
  readonly logger: Pick<DeliveryLogger, 'warn'>;
}

export type SendObject = (sent: SentMessage, object: ObjectMessage) => Promise<MessageAttempt>;

const PUT_MS = 5_000;

/** Writes objects of workflows. A repeat writes the same object again. */
export const objectSender =
  (
    { bucketOf, logger }: Omit<ObjectPorts, 'dispatcher'>,
    request: (made: AttemptRequest) => Promise<AttemptResult>,
    clock: Clock,
  ): SendObject =>
  async ({ id, workspaceId }, object) => {
    const bucket = bucketOf(object.bucket, workspaceId);
    if (!bucket) return refused('the bucket is not open to this workspace');
    const result = await request(await signedPut(bucket, object, id, clock.now()));
    if (result.status !== null) return answered(result);
    // Addresses of the storage are for its operator only.
    const { error, message } = result;
    logger.warn({ message: id, bucket: bucket.bucket, error, detail: message }, 'message.waits: no answer of a bucket');
    return { ...refused('the object storage does not answer now'), outcome: outcomeOf(result) };
  };

/** Adds the storage's own code of the error. The rest of its answer may name keys of the operator. */
const answered = (result: AttemptResult): MessageAttempt => {
  const attempt = httpMessageAttempt(result);
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(result.snippet)?.[1];
  return attempt.error === null || code === undefined ? attempt : { ...attempt, error: `${attempt.error}: ${code}` };
};

/** Signs with AWS Signature Version 4, the content included. The address has the bucket in its path. */
const signedPut = async (
  { endpoint, bucket, ...key }: OpenBucket,
  object: ObjectMessage,
  id: string,
  now: number,
): Promise<AttemptRequest> => {
  const body = Buffer.from(object.payload);
  const signer = new AwsV4Signer({
    method: 'PUT',
    url: `${endpoint}/${bucket}/${object.key.split('/').map(encoded).join('/')}`,
    headers: {
      'content-type': 'application/json',
      'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      'x-amz-meta-pd-send-id': id,
    },
    service: 's3',
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    ...key,
  });
  const { url, headers } = await signer.sign();
  const named = { 'user-agent': 'Sluice-Workflows/1', ...Object.fromEntries(headers) };
  return {
    method: 'PUT',
    origin: url.origin,
    path: url.pathname,
    headers: Object.entries(named).flat(),
    body,
    timeoutMs: PUT_MS,
  };
};

/** Percent-encodes as the signature does, which is more than encodeURIComponent. */
const encoded = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
