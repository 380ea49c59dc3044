export default {
  name: 'Console',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    console.log('a %s of %d', 'line', 2, { b: [1] });
    console.info('info');
    console.warn('warn');
    console.error(new RangeError('as a value').message);
    console.debug('debug');
    console.assert(1 === 2, 'one is not two');
    process.stdout.write('raw out\n');
    process.stderr.write('raw err\n');
    await new Promise((resolve) => setTimeout(resolve, 5));
    console.log('after an await');
  },
};
