"""Debian's botocore, driven by lines of JSON: an action and its parameters as input, its result as output."""
import json
import sys

import botocore.config
import botocore.exceptions
import botocore.session

endpoint, key, secret = sys.argv[1:]
client = botocore.session.get_session().create_client(
    "sdb",
    region_name="us-east-1",
    endpoint_url=endpoint,
    aws_access_key_id=key,
    aws_secret_access_key=secret,
    config=botocore.config.Config(retries={"max_attempts": 0}),
)
methods = {action: method for method, action in client.meta.method_to_api_mapping.items()}

for line in sys.stdin:
    call = json.loads(line)
    try:
        result = getattr(client, methods[call["action"]])(**call["parameters"])
        result.pop("ResponseMetadata")
        print(json.dumps({"result": result}), flush=True)
    except botocore.exceptions.ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        print(json.dumps({"code": error.response["Error"]["Code"], "status": status}), flush=True)
    except botocore.exceptions.BotoCoreError as error:
        print(json.dumps({"code": type(error).__name__, "status": 0}), flush=True)
