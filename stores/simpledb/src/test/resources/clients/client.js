// The aws-sdk of npm, driven by lines of JSON: an action and its parameters as input, its result as output.
const AWS = require('aws-sdk');
const [endpoint, accessKeyId, secretAccessKey] = process.argv.slice(2);
const client = new AWS.SimpleDB({
  endpoint, accessKeyId, secretAccessKey, region: 'us-east-1', maxRetries: 0,
});

require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { action, parameters } = JSON.parse(line);
  client[action[0].toLowerCase() + action.slice(1)](parameters, (error, result) => {
    if (error) {
      console.log(JSON.stringify({ code: error.code, status: error.statusCode || 0 }));
    } else {
      delete result.ResponseMetadata;
      console.log(JSON.stringify({ result }));
    }
  });
});
