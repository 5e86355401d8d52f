"""Takes one person through the whole system with the client that openapi-python-client made of its OpenAPI document: sign-in,
profile, questionnaire, verification, refresh in parallel, recovery and dispute, deletion. Calls are the client's typed ones alone.

The first argument is the folder of the generated modules `client`, `models` and `strict_models`, and of `openapi.json`. Each answer on
the way also has to fit the class that datamodel-codegen made of its schema in the strict document. And both generators' classes of the
served document have to take the answer as a later release may give it. API_TEST_URL and API_TEST_SPOOL say where the system is.
"""

import collections
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import struct
import sys
import time
import uuid
import zlib

os.environ |= {"API_TEST_CALLER": "nobody", "API_TEST_OPS_KEY": os.environ.get("API_TEST_OPS_KEY", "")}
import hooks
import httpx

FOLDER = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(FOLDER))
import models
import strict_models
from client import AuthenticatedClient, Client
from client import models as m
from client.api.account import export_account
from client.api.compatibility import get_questions, submit_responses
from client.api.onboarding import get_requirements, record_events, view_onboarding
from client.api.operations import get_readiness
from client.api.profile import delete_account, get_completion, get_me, get_profile_fields, skip_field, update_me
from client.api.questionnaires import (
    complete_session, get_session_screens, list_questionnaires, open_session, put_answer, put_answers)
from client.api.recovery import dispute_recovery, get_recovery_case, list_own_cases, request_recovery
from client.api.sessions import get_signing_keys, list_devices, list_sessions, refresh_token
from client.api.sign_in import send_otp, verify_otp
from client.api.verification import add_capture, begin_verification, complete_verification, get_verification
from client.api.visual_preferences import get_visual_profile, get_visual_session, save_visual_choices

DOCUMENT = json.loads((FOLDER / "openapi.json").read_text())
read = collections.Counter()
unknown = 0
opened = contextlib.ExitStack()


def classes():
    """The class of each operation's answers, by method, path and status; `/users/me` goes before `/users/{id}`."""
    for path, item in sorted(DOCUMENT["paths"].items(), key=lambda each: each[0].count("{")):
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
        for method, operation in item.items():
            for status, response in operation["responses"].items():
                if "$ref" in response:
                    response = DOCUMENT["components"]["responses"][response["$ref"].split("/")[-1]]
                for media in response.get("content", {}).values():
                    yield method.upper(), pattern, int(status), media["schema"].get("$ref", "").split("/")[-1]


CLASSES = list(classes())


def check(answer):
    """Reads an answer with the class of datamodel-codegen."""
    answer.read()
    if not answer.content:
        return
    path = answer.request.url.path
    names = [name for method, pattern, status, name in CLASSES
             if (method, status) == (answer.request.method, answer.status_code) and pattern.fullmatch(path)]
    if not names:
        raise SystemExit(f"{answer.request.method} {path} answered {answer.status_code}, which the document does not have")
    getattr(strict_models, names[0]).model_validate_json(answer.content)
    read[names[0]] += 1
    check_later(names[0], answer.json())


LATER = "of_a_later_release"


def later(value, schema):
    """What a later release may answer in place of a value: a member more in each object, another value of each enumeration."""
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].split("/")[-1]]
    choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if {"type": "string"} in choices:
        return LATER
    if choices:
        return None if value is None else later(value, choices[0])
    if isinstance(value, list):
        return [later(each, schema.get("items", {})) for each in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    others = schema["additionalProperties"] if isinstance(schema.get("additionalProperties"), dict) else {}
    made = {name: later(each, known.get(name, others)) for name, each in value.items()}
    return made | {LATER: LATER} if known else made


def check_later(name, answer):
    """Both generated classes of a schema read unknown members and values, and the client keeps them as they are."""
    global unknown
    answer = later(answer, {"$ref": name})
    getattr(models, name).model_validate(answer)
    kept = json.dumps(getattr(m, name).from_dict(answer).to_dict(), default=str)
    if kept.count(LATER) != json.dumps(answer).count(LATER):
        raise SystemExit(f"the client does not keep unknown values of {name}: {kept}")
    unknown += kept.count(LATER)


def client(token=None):
    arguments = {
        "base_url": hooks.URL, "timeout": httpx.Timeout(30), "httpx_args": {"event_hooks": {"response": [check]}}}
    return opened.enter_context(AuthenticatedClient(token=token, **arguments) if token else Client(**arguments))


def call(kind, operation, *arguments, **named):
    """What an operation answers, which has to be of a kind."""
    answer = operation.sync(*arguments, **named)
    if not isinstance(answer, kind):
        raise SystemExit(f"{operation.__name__} answered {answer}")
    return answer


def refused(code, operation, *arguments, **named):
    problem = call(m.Problem, operation, *arguments, **named)
    if problem.code is not code:
        raise SystemExit(f"{operation.__name__} answered {problem.code}, not {code}")
    return problem


def new_phone():
    return f"+4670{next(hooks.phones) % 10**7:07}"


def now():
    """As the client writes it: with the offset +00:00."""
    return datetime.datetime.now(datetime.timezone.utc)


def open_the_app():
    event = m.ClientEvent(event_id=uuid.uuid4(), name=m.ClientEventName.APP_OPENED, at=now())
    seen = m.RecordEventsRequest(anonymous_id=str(uuid.uuid4()), events=[event])
    assert call(m.EventsRecorded, record_events, client=anybody, body=seen).recorded == 1


def sign_in_by_code(phone):
    refused(m.ProblemCode.INVALID_PHONE, send_otp, client=anybody, body=m.SendOTPRequest(phone="12"))
    sent = call(m.OTPSent, send_otp, client=anybody, body=m.SendOTPRequest(phone=phone))
    code = hooks.inbox.code(phone)
    device = m.DeviceClaim(name="First phone", platform=m.Platform.IOS)
    claim = m.VerifyOTPRequest(
        challenge_id=sent.challenge_id, code=f"{(int(code) + 1) % 10**6:06}", device=device)
    assert refused(m.ProblemCode.OTP_INVALID, verify_otp, client=anybody, body=claim).attempts_remaining == 2
    claim.code = code
    return call(m.Session, verify_otp, client=anybody, body=claim)


def fields(**values):
    return m.UpdateMeRequest.from_dict(values)


def fill_in_the_profile(person):
    call(m.ProfileFields, get_profile_fields, client=anybody)
    refused(m.ProblemCode.UNAUTHORIZED, get_me, client=client("none"))
    wrong = refused(m.ProblemCode.VALIDATION_FAILED, update_me, client=person, body=fields(gender=1, height={"feet": 5}))
    assert all(error.pointer for error in wrong.errors)
    saved = fields(displayName="Åsa", dateOfBirth="1990-02-28", gender="female", lookingFor=["everyone"])
    me = call(m.Me, update_me, client=person, body=saved)
    assert me.onboarding_status is m.OnboardingStatus.QUESTIONNAIRE_PENDING
    call(m.Me, get_me, client=person)
    skipped = call(m.Completion, skip_field, client=person, body=m.SkipFieldRequest(field="bio"))
    assert skipped.skipped_fields == ["bio"]
    call(m.Completion, get_completion, client=person)
    call(m.Requirements, get_requirements, client=person)


def value(question):
    options = [option.key for option in question.options or [] if not option.exclusive]
    limits = question.constraints
    match question.type_:
        case m.QuestionType.SINGLE_CHOICE:
            return options[0]
        case m.QuestionType.MULTI_CHOICE | m.QuestionType.TAGS:
            return options[: max(1, limits.min_selections or 1)]
        case m.QuestionType.RANKING:
            return options[: limits.top_k or len(options)]
        case m.QuestionType.SLIDER:
            return limits.min_ or 0
    raise SystemExit(f"no answer for a question of type {question.type_}")


def answer_the_questionnaire(person):
    call(m.QuestionnaireList, list_questionnaires, client=person)
    questions = call(m.QuestionsView, get_questions, client=person)
    assert all(isinstance(question.type_, m.QuestionType) for question in questions.questions)
    smoking = m.SubmitResponsesRequest(answers=[m.ResponseItem(question="smoking", value="never")])
    call(m.ResponsesSubmitted, submit_responses, client=person, body=smoking)
    step = call(m.OnboardingView, view_onboarding, client=person).next_
    assert step.kind is m.OnboardingStepKind.QUESTIONNAIRE and questions.next_.question
    key = step.questionnaire
    session = call(m.SessionView, open_session, key, client=person, body=m.OpenSessionRequest())
    place = (key, session.id)
    screens = call(m.SessionScreens, get_session_screens, *place, client=person).screens
    required = [question for screen in screens for question in screen.questions if question.required]
    first, *others = required
    body = m.PutAnswerRequest(
        mutation_id=uuid.uuid4(), state=m.GivenAnswerState.ANSWERED, value=value(first), client_time=now())
    call(m.AnswerSaved, put_answer, *place, first.key, client=person, body=body)
    refused(m.ProblemCode.QUESTIONNAIRE_INCOMPLETE, complete_session, *place, client=person)
    batch = [m.QueuedAnswer(
        question=question.key, mutation_id=uuid.uuid4(), state=m.QueuedAnswerState.ANSWERED, value=value(question))
        for question in others]
    batch.append(m.QueuedAnswer(
        question=first.key, mutation_id=uuid.uuid4(), state=m.QueuedAnswerState.ANSWERED, value="nothing of this kind"))
    *saved, wrong = call(
        m.AnswersSaved, put_answers, *place, client=person, body=m.PutAnswersRequest(answers=batch)).results
    assert all(one.saved for one in saved) and wrong.error.code is m.QueuedErrorCode.VALIDATION_FAILED
    assert [each.pointer for each in wrong.error.errors] == [f"/answers/{len(saved)}/value"]
    done = call(m.SessionView, complete_session, *place, client=person)
    assert done.status is m.SessionStatus.COMPLETED
    view = call(m.OnboardingView, view_onboarding, client=person)
    assert view.onboarding_status is m.OnboardingStatus.VPS_PENDING


def choose_between_pictures(person):
    session = call(m.VisualSession, get_visual_session, client=person)
    choices = [m.VisualChoice(
        presentation_id=pair.presentation_id, choice=m.VisualSide.LEFT, latency_ms=900, mutation_id=uuid.uuid4())
        for pair in session.comparisons]
    body = m.SaveVisualChoicesRequest(session_id=session.session_id, choices=choices)
    saved = call(m.VisualChoicesSaved, save_visual_choices, client=person, body=body)
    assert len(saved.results) == 5 and all(one.saved for one in saved.results)
    body = m.SaveVisualChoicesRequest(session_id=session.session_id, defer=True)
    call(m.VisualChoicesSaved, save_visual_choices, client=person, body=body)
    known = call(m.VisualProfile, get_visual_profile, client=person)
    assert known.status is m.VisualPreferenceStatus.DEFERRED
    view = call(m.OnboardingView, view_onboarding, client=person)
    assert view.onboarding_status is m.OnboardingStatus.VERIFICATION_PENDING


def photo():
    """A PNG of 480 by 480 pixels, which is large, sharp and bright enough."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + random.randbytes(480) for _ in range(480))
    head = struct.pack(">IIBBBBB", 480, 480, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def verify(person):
    consent = m.BiometricConsent(biometric=True, text_version="2026-02", at=now())
    body = m.BeginVerificationRequest(consent=consent)
    session = call(m.VerificationBegun, begin_verification, client=person, body=body).session_id
    picture = photo()
    body = m.AddCaptureRequest(content_type=m.AddCaptureRequestContentType.IMAGEPNG, length=len(picture))
    promised = call(m.CapturePromised, add_capture, session, client=person, body=body)
    # The address of an upload is no operation of the document.
    sent = httpx.put(promised.upload_url, content=picture, headers={"Content-Type": "image/png"})
    assert sent.status_code == 204
    view = call(m.VerificationView, complete_verification, session, client=person)
    end = time.monotonic() + 15
    while view.status is m.VerificationStatus.PROCESSING and time.monotonic() < end:
        time.sleep(0.05)
        view = call(m.VerificationView, get_verification, session, client=person)
    assert view.status is m.VerificationStatus.VERIFIED
    # Profile learns of the verdict by an event.
    while call(m.OnboardingView, view_onboarding, client=person).onboarding_status is not m.OnboardingStatus.COMPLETE:
        if time.monotonic() > end:
            raise SystemExit("the onboarding of a verified person is not complete")
        time.sleep(0.05)


def refresh_in_parallel(session):
    """Five at once with one refresh token, as five windows of an app."""
    body = m.RefreshTokenRequest(refresh_token=session.refresh_token, device_secret=session.device_secret)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = [pool.submit(call, m.Session, refresh_token, client=client(), body=body) for _ in range(5)]
    assert {one.result().session_id for one in made} == {session.session_id}
    return made[-1].result().access_token


def dispute_a_recovery(phone, owner):
    own = new_phone()
    asked = m.SendOTPRequest(phone=own, account_phone=phone, purpose=m.CodePurpose.RECOVERY)
    sent = call(m.OTPSent, send_otp, client=anybody, body=asked)
    requested = call(m.RecoveryRequested, request_recovery, client=anybody, body=m.RequestRecoveryRequest(
        account_phone=phone, challenge_id=sent.challenge_id, code=hooks.inbox.code(own),
        device=m.DeviceClaim(name="Second phone", platform=m.Platform.ANDROID)))
    claimant = client(requested.recovery_token)
    case = requested.recovery_id
    held = call(m.RecoveryCaseView, get_recovery_case, case, client=claimant)
    assert held.status is m.RecoveryStatus.HELD
    assert [each.recovery_id for each in call(m.OwnRecoveryCases, list_own_cases, client=owner).cases] == [case]
    over = call(m.RecoveryDisputed, dispute_recovery, case, client=owner, body=m.DisputeRecoveryRequest())
    assert over.status is m.RecoveryStatus.DISPUTED


def delete(person):
    call(m.DeviceList, list_devices, client=person)
    call(m.SessionList, list_sessions, client=person)
    call(m.AccountExport, export_account, client=person)
    call(m.AccountDeletion, delete_account, client=person)
    end = time.monotonic() + 15
    while not isinstance(answer := get_me.sync(client=person), m.Problem):
        if time.monotonic() > end:
            raise SystemExit("a deleted person is still signed in")
        time.sleep(0.05)
    assert answer.status == 401


with opened:
    anybody = client()
    call(m.Readiness, get_readiness, client=anybody)
    call(m.SigningKeys, get_signing_keys, client=anybody)
    open_the_app()
    phone = new_phone()
    session = sign_in_by_code(phone)
    person = client(session.access_token)
    fill_in_the_profile(person)
    answer_the_questionnaire(person)
    choose_between_pictures(person)
    verify(person)
    person = client(refresh_in_parallel(session))
    dispute_a_recovery(phone, person)
    delete(person)
print(f"{read.total()} answers fit their classes, {len(read)} of them; {unknown} unknown values and members are kept")
