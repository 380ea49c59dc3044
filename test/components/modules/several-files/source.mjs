import { double } from './lib/double';
import cities from './data/cities.json';
import notice from './data/notice.txt';
import { shape } from './lib/shape.js';

export default {
  name: 'Several files',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run({ n }) {
    const { triple } = await import('./lib/triple.mjs');
    this.$emit({ double: double(n), triple: triple(n), city: cities[0], notice: notice.trim(), shape: shape(n) });
  },
};
