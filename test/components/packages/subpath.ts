import { feature, type Feature } from '@scope/toolkit/feature';
import { undeclared } from '@scope/toolkit';

export default {
  name: 'Subpath',
  version: '0.0.1',
  run(this: { $emit(event: unknown): void }, event: { n: number }) {
    const made: Feature = feature(event.n);
    this.$emit({ made, undeclared });
  },
};
