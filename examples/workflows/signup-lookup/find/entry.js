// The arguments of the call are the event. What the last step returns is the answer.
export default {
  props: { signups: { type: 'data_store' } },
  async run({ $, event }) {
    const email = event.email.trim().toLowerCase();
    const signup = await this.signups.get(email);
    $.export('$summary', signup ? `found ${email}` : `no ${email}`);
    return signup ? { found: true, name: signup.name } : { found: false };
  },
};
