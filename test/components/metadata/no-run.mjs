export default {
  name: 'Passes on what it gets',
  props: { http: '$.interface.http' },
};
