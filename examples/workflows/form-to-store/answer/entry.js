export default {
  async run({ $, steps }) {
    await $.respond({ status: 201, body: { signed_up: steps.check.$return_value.email } });
  },
};
