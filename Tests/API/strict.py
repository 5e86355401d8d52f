"""The OpenAPI document without room for later releases: what this release answers has to keep to it exactly.

As a program it reads the document that is served, and prints the strict one.
"""

import json
import sys


def strict(value):
    """No member of an answer and no value of an enumeration that the document does not name."""
    if isinstance(value, list):
        return [strict(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: strict(each) for name, each in value.items()}
    if made.get("type") == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    if any("$ref" in each for each in made.get("anyOf", [])):
        made["anyOf"] = [each for each in made["anyOf"] if each != {"type": "string"}]
    return made


if __name__ == "__main__":
    json.dump(strict(json.load(sys.stdin)), sys.stdout)
