"""What a team would write instead of Vestibule, for scripts/bench-peers: a sign-in by a code and the own profile.

It is written as the documentation of FastAPI, asyncpg and PyJWT says. Paths and members are those of Vestibule.

DATABASE_URL, SPOOL_FILE (gets the SMS), TOKEN_KEY_FILE (Ed25519, PEM), CODE_KEY (a secret text), OTP_PER_HOUR and
OTP_RESEND_AFTER (seconds) configure it. Its tables are in schema.sql.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID, uuid4

import asyncpg
import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from fastapi import BackgroundTasks, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

SPOOL_FILE = os.environ["SPOOL_FILE"]
CODE_KEY = os.environ["CODE_KEY"].encode()
OTP_PER_HOUR = int(os.environ["OTP_PER_HOUR"])
RESEND_AFTER = timedelta(seconds=int(os.environ["OTP_RESEND_AFTER"]))
CODE_LIFETIME = timedelta(minutes=5)
TOKEN_LIFETIME = timedelta(minutes=15)
MOST_TRIES = 3
with open(os.environ["TOKEN_KEY_FILE"], "rb") as file:
    TOKEN_KEY = load_pem_private_key(file.read(), password=None)
PUBLIC_KEY = TOKEN_KEY.public_key()

ADD_CHALLENGE = """
    INSERT INTO challenges (id, phone, code_hash, expires_at)
    SELECT $1::uuid, $2::text, $3::bytea, now() + $4::interval
    FROM (SELECT count(*) AS codes, max(created_at) AS last FROM challenges
          WHERE phone = $2 AND created_at > now() - interval '1 hour') AS earlier
    WHERE codes < $5 AND (last IS NULL OR last <= now() - $6::interval)
    RETURNING id
"""
TRY_CHALLENGE = """
    UPDATE challenges SET tries = tries + 1
    WHERE id = $1 AND used_at IS NULL AND expires_at > now() AND tries < $2
    RETURNING phone, code_hash, tries
"""
FIND_PERSON = """
    SELECT persons.id, profiles.onboarding_status
    FROM persons JOIN profiles ON profiles.person_id = persons.id WHERE persons.phone = $1
"""
# Two new sign-ins of one number may come at the same time.
ADD_PERSON = "INSERT INTO persons (phone) VALUES ($1) ON CONFLICT (phone) DO UPDATE SET phone = EXCLUDED.phone RETURNING id"
ADD_PROFILE = "INSERT INTO profiles (person_id) VALUES ($1) ON CONFLICT (person_id) DO NOTHING"
ADD_DEVICE = "INSERT INTO devices (id, person_id, secret_hash, name, platform) VALUES ($1, $2, $3, $4, $5)"
ADD_SESSION = "INSERT INTO sessions (id, person_id, device_id, refresh_hash) VALUES ($1, $2, $3, $4)"
FIND_PROFILE = "SELECT * FROM profiles WHERE person_id = $1"


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class CodeAsked(Model):
    phone: Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{6,14}$")]


class CodeSent(Model):
    challenge_id: UUID
    expires_in_seconds: int
    resend_after_seconds: int
    code_length: int
    masked_phone: str


class Device(Model):
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    platform: Literal["ios", "android", "web"]


class CodeGiven(Model):
    challenge_id: UUID
    code: Annotated[str, StringConstraints(pattern=r"^[0-9]{6}$")]
    device: Device


class User(Model):
    id: UUID
    onboarding_status: str


class Session(Model):
    access_token: str
    token_type: str
    expires_in_seconds: int
    refresh_token: str
    session_id: UUID
    device_id: UUID
    device_secret: str
    is_new_user: bool
    user: User


class NextStep(Model):
    step: str
    kind: str
    href: str | None
    questionnaire: str | None


class Profile(Model):
    display_name: str | None
    date_of_birth: date | None
    gender: str | None
    looking_for: list[str] | None


class Me(Model):
    id: UUID
    profile: Profile
    age: int | None
    onboarding_status: str
    next: NextStep | None
    onboarding_step: str
    matching_mode: str
    skipped_fields: list[str]
    prefer_not_to_share_fields: list[str]
    completion: int
    time_zone: str | None
    created_at: datetime
    updated_at: datetime
    revision: int


class Problem(Exception):
    """An error answer (RFC 9457)."""

    def __init__(self, status, code, detail, **members):
        self.status = status
        self.content = {"type": f"urn:peer:problem:{code}", "status": status, "code": code, "detail": detail, **members}


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI):
    async with asyncpg.create_pool(os.environ["DATABASE_URL"]) as app.state.pool:
        yield


app = FastAPI(lifespan=lifespan)
bearer = HTTPBearer(auto_error=False)


@app.exception_handler(Problem)
async def answer_problem(_, problem: Problem):
    return JSONResponse(problem.content, problem.status, media_type="application/problem+json")


@app.exception_handler(RequestValidationError)
async def answer_wrong_request(request, error: RequestValidationError):
    errors = [{"pointer": "/" + "/".join(map(str, each["loc"][1:])), "message": each["msg"]} for each in error.errors()]
    return await answer_problem(request, Problem(422, "validation_failed", "Some members of the request are wrong.", errors=errors))


def code_hash(challenge: UUID, code: str) -> bytes:
    """There are only a million codes, so the hash has a key."""
    return hmac.digest(CODE_KEY, challenge.bytes + code.encode(), "sha256")


def new_secret(prefix: str) -> tuple[str, bytes]:
    """A secret, and the hash to keep of it."""
    secret = f"{prefix}_{secrets.token_urlsafe(32)}"
    return secret, hashlib.sha256(secret.encode()).digest()


def send_sms(phone: str, body: str):
    with open(SPOOL_FILE, "a") as file:
        file.write(json.dumps({"to": phone, "body": body}) + "\n")


@app.post("/auth/otp/send", status_code=202)
async def send_code(asked: CodeAsked, background_tasks: BackgroundTasks) -> CodeSent:
    challenge, code = uuid4(), f"{secrets.randbelow(1_000_000):06}"
    added = await app.state.pool.fetchval(
        ADD_CHALLENGE, challenge, asked.phone, code_hash(challenge, code), CODE_LIFETIME, OTP_PER_HOUR, RESEND_AFTER)
    if added is None:
        raise Problem(429, "rate_limited", "Too many codes were requested. Please wait.")
    background_tasks.add_task(send_sms, asked.phone, f"{code} is your code to sign in. It is valid for 5 minutes.")
    return CodeSent(
        challenge_id=challenge, expires_in_seconds=int(CODE_LIFETIME.total_seconds()),
        resend_after_seconds=int(RESEND_AFTER.total_seconds()), code_length=6,
        masked_phone=f"{asked.phone[:3]} ••• {asked.phone[-4:]}")


@app.post("/auth/otp/verify")
async def verify_code(given: CodeGiven) -> Session:
    async with app.state.pool.acquire() as connection, connection.transaction():
        challenge = await connection.fetchrow(TRY_CHALLENGE, given.challenge_id, MOST_TRIES)
        is_right = challenge and hmac.compare_digest(challenge["code_hash"], code_hash(given.challenge_id, given.code))
        session = await open_session(connection, given, challenge["phone"]) if is_right else None
    # An error inside of the transaction would undo the count of the tries.
    if challenge is None:
        raise Problem(410, "otp_expired", "This code is no longer valid. Request a new one.")
    if session is None:
        left = MOST_TRIES - challenge["tries"]
        raise Problem(422, "otp_invalid", "This code is wrong.", attemptsRemaining=left)
    return session


async def open_session(connection: asyncpg.Connection, given: CodeGiven, phone: str) -> Session:
    await connection.execute("UPDATE challenges SET used_at = now() WHERE id = $1", given.challenge_id)
    known = await connection.fetchrow(FIND_PERSON, phone)
    if known:
        user = User(id=known["id"], onboarding_status=known["onboarding_status"])
    else:
        user = User(id=await connection.fetchval(ADD_PERSON, phone), onboarding_status="questionnaire_pending")
        await connection.execute(ADD_PROFILE, user.id)
    device, session = uuid4(), uuid4()
    device_secret, device_hash = new_secret("ds")
    refresh_token, refresh_hash = new_secret("rf")
    await connection.execute(ADD_DEVICE, device, user.id, device_hash, given.device.name, given.device.platform)
    await connection.execute(ADD_SESSION, session, user.id, device, refresh_hash)
    return Session(
        access_token=access_token(user.id, session), token_type="Bearer",
        expires_in_seconds=int(TOKEN_LIFETIME.total_seconds()), refresh_token=refresh_token, session_id=session,
        device_id=device, device_secret=device_secret, is_new_user=known is None, user=user)


def access_token(person: UUID, session: UUID) -> str:
    now = datetime.now(UTC)
    claims = {"sub": str(person), "sid": str(session), "jti": str(uuid4()), "iat": now, "exp": now + TOKEN_LIFETIME}
    return jwt.encode(claims, TOKEN_KEY, algorithm="EdDSA")


async def signed_in(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> UUID:
    """The person whose token the request has."""
    try:
        claims = jwt.decode(
            credentials.credentials if credentials else "", PUBLIC_KEY, algorithms=["EdDSA"],
            options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        raise Problem(401, "unauthorized", "Please sign in.")
    return UUID(claims["sub"])


@app.get("/users/me", response_model_exclude_none=True)
async def me(person: Annotated[UUID, Depends(signed_in)]) -> Me:
    row = await app.state.pool.fetchrow(FIND_PROFILE, person)
    if row is None:
        raise Problem(401, "unauthorized", "Please sign in.")
    return Me(
        id=person, age=age(row["date_of_birth"]), next=next_step(row), profile=Profile(
            display_name=row["display_name"], date_of_birth=row["date_of_birth"], gender=row["gender"],
            looking_for=row["looking_for"]),
        onboarding_status=row["onboarding_status"], onboarding_step=row["onboarding_step"],
        matching_mode=row["matching_mode"], skipped_fields=row["skipped_fields"],
        prefer_not_to_share_fields=row["prefer_not_to_share_fields"], completion=row["completion"],
        time_zone=row["time_zone"], created_at=row["created_at"], updated_at=row["updated_at"], revision=row["revision"])


def age(born: date | None) -> int | None:
    if born is None:
        return None
    today = datetime.now(UTC).date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def next_step(row: asyncpg.Record) -> NextStep | None:
    if row["next_step"] is None:
        return None
    return NextStep(
        step=row["next_step"], kind=row["next_kind"], href=row["next_href"], questionnaire=row["next_questionnaire"])
