interface Item {
  readonly price: number;
}

const priceOf = (item: Item | undefined): number => {
  return (item as Item).price;
};

export default {
  name: 'Stack of a TypeScript file',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit(priceOf(undefined));
  },
};
