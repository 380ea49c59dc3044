import fs from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

export default {
  name: 'Files in /tmp',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run({ first }) {
    if (!first) return void this.$emit(fs.readFileSync('/tmp/shared.txt', 'utf8'));
    fs.writeFileSync('/tmp/shared.txt', 'of the run before');
    const folder = await mkdtemp('/tmp/work-');
    const file = join(folder, 'lines.txt');
    await writeFile(file, 'one\ntwo\n');
    const lines = [];
    for await (const line of createInterface({ input: fs.createReadStream(file) })) lines.push(line);
    const text = await readFile(file, 'utf8');
    await rm(folder, { recursive: true });
    this.$emit([lines, text.length, fs.existsSync(file), process.cwd()]);
  },
};
