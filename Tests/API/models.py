"""Reads answers of a running system with the classes that datamodel-codegen made of its OpenAPI document.

The first argument is the folder of the generated module `models`. A real person signs in; every answer on the way has to fit
its class, and so do the problems. API_TEST_URL and API_TEST_SPOOL say where the system is.
"""

import os
import sys

os.environ |= {"API_TEST_CALLER": "nobody", "API_TEST_OPS_KEY": os.environ.get("API_TEST_OPS_KEY", "")}
import hooks

sys.path.insert(0, sys.argv[1])
import models

read = 0


def take(method, path, kind, token=None, body=None, status=200):
    global read
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = hooks.http.request(method, hooks.URL + path, headers=headers, json=body, timeout=30)
    if answer.status_code != status:
        raise SystemExit(f"{method} {path} answered {answer.status_code}: {answer.text}")
    read += 1
    return kind.model_validate_json(answer.content)


phone, proof = hooks.proof("login")
session = take("POST", "/auth/otp/verify", models.Session, body=proof)
token = session.accessToken
fields = {"displayName": "Åsa", "dateOfBirth": "1990-02-28", "gender": "female", "lookingFor": ["everyone"]}
me = take("PATCH", "/users/me", models.Me, token, fields)
assert isinstance(me.onboardingStatus, models.OnboardingStatus)
take("GET", "/users/me", models.Me, token)
take("GET", "/users/me/completion", models.Completion, token)
take("GET", "/users/me/onboarding", models.OnboardingView, token)
take("GET", "/users/me/requirements", models.Requirements, token)
take("GET", "/users/me/devices", models.DeviceList, token)
take("GET", "/users/me/recovery-cases", models.OwnRecoveryCases, token)
take("GET", "/users/me/export", models.AccountExport, token)
take("GET", "/auth/sessions", models.SessionList, token)
take("GET", "/profile/fields", models.ProfileFields)
questions = take("GET", "/compatibility/questions", models.QuestionsView, token).questions
assert all(isinstance(question.type, models.QuestionType) for question in questions)
answers = {"answers": [{"question": "smoking", "value": "never"}]}
take("POST", "/compatibility/responses", models.ResponsesSubmitted, token, answers)
take("GET", "/questionnaires", models.QuestionnaireList, token)
take("GET", "/readyz", models.Readiness)
take("GET", "/.well-known/jwks.json", models.SigningKeys)
take("GET", "/users/me", models.Problem, status=401)
problem = take("PATCH", "/users/me", models.Problem, token, {"gender": 1, "height": {"feet": 5}}, status=422)
assert isinstance(problem.code, models.ProblemCode) and all(error.pointer for error in problem.errors)
take("POST", "/auth/otp/send", models.Problem, body={}, status=422)
print(f"{read} answers fit their classes")
