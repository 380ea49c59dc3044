import { Readable } from 'node:stream';

const BODIES = {
  text: 'plain',
  object: { a: 1 },
  list: [1],
  buffer: Buffer.from([0, 255]),
  bytes: new Uint8Array([65, 66]),
  none: undefined,
};

export default {
  name: 'Responds',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run({ body }) {
    const { status, headers, kind, twice } = body;
    const given = kind === 'stream' ? Readable.from(['a ', Buffer.from('tide')]) : BODIES[kind];
    await this.http.respond({ status, headers, body: given });
    if (twice) this.http.respond({ status: 418 });
  },
};
