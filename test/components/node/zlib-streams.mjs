import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

export default {
  name: 'Compression and streams',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    const packed = await promisify(zlib.gzip)('tide '.repeat(1000));
    const chunks = [];
    const upper = new Transform({
      transform(chunk, _encoding, done) {
        done(null, String(chunk).toUpperCase());
      },
    });
    await pipeline(Readable.from([packed]), zlib.createGunzip(), upper, async (source) => {
      for await (const chunk of source) chunks.push(chunk);
    });
    const text = Buffer.concat(chunks).toString();
    const brotli = zlib.brotliDecompressSync(zlib.brotliCompressSync('b')).toString();
    const web = await new Response(new Blob(['web']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
    this.$emit([text.length, text.slice(0, 4), brotli, zlib.gunzipSync(Buffer.from(web)).toString()]);
  },
};
