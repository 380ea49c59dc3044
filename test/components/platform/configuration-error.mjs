import { ConfigurationError } from '@pipedream/platform';

export default {
  name: 'Is configured wrongly',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    throw new ConfigurationError('Select at least one city.');
  },
};
