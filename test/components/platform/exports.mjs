import {
  axios,
  cloneSafe,
  ConfigurationError,
  DEFAULT_POLLING_SOURCE_TIMER_INTERVAL,
  getFileStreamAndMetadata,
  getFileStream,
  HTTP_METHODS,
  jsonStringifySafe,
  transformConfigForOauth,
} from '@pipedream/platform';

export default {
  name: 'Exports of the platform',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const circle = { a: 1 };
    circle.self = circle;
    const error = new ConfigurationError('set a city');
    this.$emit([
      DEFAULT_POLLING_SOURCE_TIMER_INTERVAL,
      error.name,
      error.message,
      error.exposeStack,
      error instanceof Error,
    ]);
    this.$emit(
      [axios, cloneSafe, getFileStream, getFileStreamAndMetadata, transformConfigForOauth].map((one) => typeof one),
    );
    this.$emit([HTTP_METHODS.includes('PATCH'), typeof jsonStringifySafe(circle), typeof cloneSafe({ a: 1 })]);
  },
};
