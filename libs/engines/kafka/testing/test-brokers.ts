/** The brokers that `npm run test:engines` started. */
export const testBrokers = (): readonly string[] => {
  const given = process.env.SLUICE_TEST_KAFKA;
  if (given === undefined || given === '') {
    throw new Error('SLUICE_TEST_KAFKA names no brokers: run npm run test:engines, which starts one');
  }
  return given.split(',');
};
