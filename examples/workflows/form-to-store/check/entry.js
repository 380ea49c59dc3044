const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** A field that was sent several times is a list, and a body that is no form may be a text. */
const textOf = (body, field) => (typeof body?.[field] === 'string' ? body[field].trim() : '');

export default {
  async run({ $, event }) {
    const name = textOf(event.body, 'name');
    const email = textOf(event.body, 'email').toLowerCase();
    const errors = {};
    if (name === '') errors.name = 'is required';
    if (name.length > 100) errors.name = `has ${name.length} characters; the limit is 100`;
    if (!EMAIL.test(email) || email.length > 254) errors.email = 'is no email address';
    if (Object.keys(errors).length === 0) return { name, email };
    await $.respond({ status: 422, body: { errors } });
    $.flow.exit(`refused: ${Object.keys(errors).join(', ')}`);
  },
};
