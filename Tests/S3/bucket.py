"""Makes the bucket of scripts/s3-test on moto, with a key that may use it, or looks at what is in it.

bucket.py make URL: prints the ID and the secret of the key. The server checks signatures from then on.
bucket.py objects URL ID SECRET: prints the names of the objects.
"""
import json
import sys

import boto3
from botocore.exceptions import ClientError

REGION = "eu-north-1"
verb, url = sys.argv[1:3]


def client(service, key, secret):
    return boto3.client(service, endpoint_url=url, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=secret)


def make():
    # The server lets as many calls pass as INITIAL_NO_AUTH_ACTION_COUNT says: these five.
    iam, s3 = client("iam", "nobody", "nothing"), client("s3", "nobody", "nothing")
    iam.create_user(UserName="verification")
    key = iam.create_access_key(UserName="verification")["AccessKey"]
    allowed = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_user_policy(UserName="verification", PolicyName="pictures", PolicyDocument=policy)
    s3.create_bucket(Bucket="pictures", CreateBucketConfiguration={"LocationConstraint": REGION})
    iam.list_users()
    try:
        client("s3", key["AccessKeyId"], "wrong").list_objects_v2(Bucket="pictures")
        sys.exit("the server takes any signature, so it shows nothing")
    except ClientError as error:
        if error.response["Error"]["Code"] != "SignatureDoesNotMatch":
            raise
    print(key["AccessKeyId"], key["SecretAccessKey"])


if verb == "make":
    make()
else:
    listed = client("s3", *sys.argv[3:5]).list_objects_v2(Bucket="pictures")
    print(*[each["Key"] for each in listed.get("Contents", [])], sep="\n")
