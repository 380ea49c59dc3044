const PAGE = `<!doctype html>
<title>Sign up</title>
<form method="post">
  <label>Name <input name="name" required></label>
  <label>Email <input name="email" type="email" required></label>
  <button>Sign up</button>
</form>
`;

export default {
  async run({ $ }) {
    await $.respond({ headers: { 'content-type': 'text/html; charset=utf-8' }, body: PAGE });
    $.flow.exit('the form was shown');
  },
};
