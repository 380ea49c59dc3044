import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

export default {
  name: 'Temporary folder',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const file = join(tmpdir(), 'note.txt');
    writeFileSync(file, 'written');
    this.$emit([readFileSync('note.txt', 'utf8'), process.cwd() === tmpdir(), homedir() === tmpdir()]);
  },
};
