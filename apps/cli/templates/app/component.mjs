export default {
  type: 'app',
  app: 'app',
  methods: {
    /** Sends a request with the credentials of the account. */
    async get(path) {
      const response = await fetch(`https://api.example.com${path}`, {
        headers: { authorization: `Bearer ${this.$auth.api_key}` },
        signal: AbortSignal.timeout(20_000),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return response.json();
    },
  },
};
