const END = {
  exit: () => process.exit(3),
  loop: () => {
    for (;;);
  },
  hang: () => new Promise(() => setInterval(() => {}, 1000)),
  memory: () => {
    const all = [];
    for (;;) all.push(new Array(100_000).fill(Math.random()));
  },
};

export default {
  name: 'Ends its process',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run({ how }) {
    this.$emit(how);
    return END[how]();
  },
};
