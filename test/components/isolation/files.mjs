import fs from 'node:fs';
import { tmpdir } from 'node:os';

const attempt = (act) => {
  try {
    act();
    return 'done';
  } catch (error) {
    return error.code;
  }
};

export default {
  name: 'Touches files elsewhere',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit([
      attempt(() => fs.readFileSync('/etc/passwd')) === 'done',
      attempt(() => fs.writeFileSync('/etc/sluice', 'x')) === 'done',
      attempt(() => fs.writeFileSync(`${tmpdir()}/fine`, 'x')),
    ]);
  },
};
