class QuotaError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'QuotaError';
    this.code = 'QUOTA';
  }
}

const THROW = {
  own: () => {
    throw new QuotaError('used up', { cause: new TypeError('was 0') });
  },
  aggregate: () => {
    throw new AggregateError([new Error('one'), new Error('two')], 'both failed');
  },
  text: () => {
    throw 'just text';
  },
  nothing: () => {
    throw undefined;
  },
  rejected: () => Promise.reject(new Error('rejected')),
  stray: () => {
    Promise.reject(new Error('nobody awaits'));
    return new Promise((resolve) => setTimeout(resolve, 500));
  },
  uncaught: () => {
    setTimeout(() => {
      throw new Error('in a timer');
    }, 1);
    return new Promise((resolve) => setTimeout(resolve, 500));
  },
};

export default {
  name: 'Fails in every way',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run({ how }) {
    return THROW[how]();
  },
};
