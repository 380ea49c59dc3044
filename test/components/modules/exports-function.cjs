module.exports = function run() {};
