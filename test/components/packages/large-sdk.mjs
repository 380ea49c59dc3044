import { Sdk } from 'large-sdk';

export default {
  name: 'Large SDK',
  version: '0.0.1',
  async run({ service }) {
    const sdk = new Sdk({ region: 'north' });
    this.$emit(await sdk.client(service).send({ op: 'list' }));
  },
};
