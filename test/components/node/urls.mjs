import path from 'node:path';
import querystring from 'node:querystring';
import url from 'node:url';
import util from 'node:util';
import assert from 'node:assert';
import os from 'node:os';

export default {
  name: 'Addresses and small modules',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const address = new URL('../b?x=1#top', 'https://user@example.com:8080/a/c');
    address.searchParams.append('x', 'ä');
    let failed;
    try {
      assert.deepStrictEqual({ a: 1 }, { a: 2 });
    } catch (error) {
      failed = error.code;
    }
    this.$emit([
      address.href,
      url.parse('https://example.com/p?q=1').pathname,
      querystring.stringify({ a: [1, 2] }),
      path.join('/a', '..', 'b.txt'),
      util.inspect({ a: { b: 1 } }),
      util.format('%s is %d', 'it', 1),
      failed,
      typeof os.tmpdir(),
      util.types.isDate(new Date()),
    ]);
  },
};
