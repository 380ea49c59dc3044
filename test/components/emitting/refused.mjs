const attempt = (emit) => {
  try {
    emit();
    return 'passed';
  } catch (error) {
    return error.message;
  }
};

export default {
  name: 'Emits what is refused',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const circle = {};
    circle.circle = circle;
    let deep = 1;
    for (let n = 0; n < 257; n++) deep = [deep];
    this.$emit([
      attempt(() => this.$emit(circle)),
      attempt(() => this.$emit(1n)),
      attempt(() => this.$emit(deep)),
      attempt(() => this.$emit(1, { delivery_ts: 'noon' })),
      attempt(() => this.$emit(1, { name: '$errors' })),
    ]);
  },
};
