import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getFileStream, getFileStreamAndMetadata } from '@pipedream/platform@^3.0.0';

const textOf = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
};

export default {
  name: 'File streams',
  version: '0.0.1',
  props: { http: '$.interface.http', server: 'string' },
  async run() {
    const file = join(tmpdir(), 'note.txt');
    await writeFile(file, 'in a file');
    this.$emit(await textOf(await getFileStream(file)));
    const { stream, metadata } = await getFileStreamAndMetadata(`${this.server}/file.txt`);
    this.$emit([await textOf(stream), metadata.name, metadata.contentType]);
  },
};
