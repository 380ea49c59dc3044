// The list becomes part of the run, so a change of the variable does not touch runs that have begun.
export default {
  async run() {
    return (process.env.RECEIVERS ?? '').split(/\s+/).filter((receiver) => receiver !== '');
  },
};
