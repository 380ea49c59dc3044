export default {
  props: { signups: { type: 'data_store' } },
  async run({ $, steps }) {
    const { name, email } = steps.check.$return_value;
    // The address is the key, so a form that is sent twice, or a step that a crash repeats, leaves one record.
    await this.signups.set(email, { name, run: $.context.id });
    $.export('$summary', `${email} signed up`);
  },
};
