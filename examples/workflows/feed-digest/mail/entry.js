export default {
  async run({ $, steps }) {
    const items = steps.read.$return_value;
    // The mail goes to the user who created the workflow, once the outcome of this step is stored.
    $.send.email({
      subject: items.length === 1 ? items[0].title : `${items.length} new items`,
      text: items.map(({ title, link }) => `${title}\n${link}\n`).join('\n'),
    });
  },
};
