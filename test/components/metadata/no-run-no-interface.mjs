export default { name: 'Nothing starts it', version: '1' };
