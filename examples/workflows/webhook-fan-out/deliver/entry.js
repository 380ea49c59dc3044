import { post } from '../post.mjs';

export default {
  async run({ $, event, item }) {
    await post(item, $, event);
  },
};
