export default {
  name: 'Imports a path from parts',
  props: { http: '$.interface.http' },
  async run({ name }) {
    this.$emit(await import(`./${name}.mjs`));
  },
};
