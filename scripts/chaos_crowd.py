"""The people of a run together: who writes what, and what is read of it once the run is over."""

import concurrent.futures
import random
import threading
import uuid

import chaos_end
import chaos_people

# The people who sign in again and again get new numbers from here on.
FIRST_NEWCOMER = 1000


class Run:
    """What the people of a run share."""

    def __init__(self, history, port, state, pauses=(0.01, 0.1)):
        # How long a device pauses between two writes, at least and at most, in seconds.
        self.history, self.port, self.pauses = history, port, pauses
        self.spool, self.over = chaos_people.Spool(state), threading.Event()

    def is_over(self):
        return self.over.is_set()

    def pause(self, seconds):
        self.over.wait(seconds)

    def key(self):
        return str(uuid.uuid4())


class Writer(threading.Thread):
    """One device: it does the same thing again and again, with pauses of its own."""

    def __init__(self, run, seed, write):
        super().__init__(daemon=True)
        self.run_of, self.chance, self.write = run, random.Random(seed), write
        self.caller, self.failure = chaos_people.Caller(run.port), None
        self.start()

    def run(self):
        try:
            while not self.run_of.is_over():
                self.write(self.caller, self)
                self.run_of.pause(self.chance.uniform(*self.run_of.pauses))
        except Exception as error:
            # A fault of this script, which the run reports.
            self.failure = error


class Newcomers:
    """Somebody new signs in, and twice where time is left."""

    def __init__(self, run):
        self.run, self.people, self.lock = run, [], threading.Lock()

    def write(self, caller, writer):
        with self.lock:
            person = chaos_people.Person(FIRST_NEWCOMER + len(self.people), self.run)
            self.people.append(person)
        person.sign_in()
        if person.session and writer.chance.random() < 0.5:
            self.run.pause(1.2)
            person.session = None
            person.sign_in()


class Crowd:
    """The people of a run and their devices."""

    def __init__(self, run, seed, count):
        self.run, self.seed, self.writers = run, seed, []
        people = [chaos_people.Person(number, run) for number in range(count)]
        signing_in = [threading.Thread(target=each.sign_in) for each in people]
        for each in signing_in:
            each.start()
        for each in signing_in:
            each.join()
        self.people, self.newcomers = people, Newcomers(run)
        self.profiles = [chaos_people.Profile(each) for each in people[0::3]]
        self.answers = [chaos_people.Answers(each, "skin-care", "currentRoutine") for each in people[1::3]]
        self.told = [chaos_people.Answers(people[2], "realsingles-profile", "bio")]
        self.submissions = [chaos_people.Submissions(each) for each in people[1::3]]
        for each in self.profiles:
            each.read(each.person.caller)
        for each in self.answers + self.told:
            each.open(each.person.caller)

    def use_tokens(self):
        """Uses more access tokens than the 20,000 that the gateway remembers. Until then its memory grows, as it should."""
        def use(person):
            for _ in range(22_000 // len(self.people)):
                if self.run.is_over():
                    return
                person.renew()
                person.caller.send("GET", "/users/me", token=person.session["accessToken"])
        with concurrent.futures.ThreadPoolExecutor(len(self.people)) as at_once:
            try:
                list(at_once.map(use, self.people))
            except BaseException:
                self.run.over.set()
                raise

    def begin(self):
        objects = self.profiles * 3 + self.answers * 3 + self.told * 2 + self.submissions * 2
        works = [each.write for each in objects] + [self.newcomers.write] * 2 + [self.renew(self.people[3])]
        self.writers = [Writer(self.run, f"{self.seed} {place}", each) for place, each in enumerate(works)]

    def renew(self, person):
        return lambda caller, writer: person.renew()

    def end(self):
        """Ends the writers, and says which of them failed by a fault of this script."""
        self.run.over.set()
        for each in self.writers:
            each.join()
        return [each.failure for each in self.writers if each.failure]


def read_kept(target, crowd, note):
    """Reads which change each of the last revisions is."""
    for each in crowd.profiles:
        account = each.person.session["account"]
        [[revision, _]] = chaos_end.profile(target, account)
        kept = chaos_end.kept_texts(target, account, int(revision))
        note(final="kept", object=each.name, revisions=kept)
        note(final="twice", found=chaos_end.repeated(list(kept.values())))
    for each in crowd.answers + crowd.told:
        kept = chaos_end.kept_mutations(target, each.person.session["account"], each.question)
        note(final="kept", object=each.name, revisions=kept)
    for each in crowd.submissions:
        kept = chaos_end.kept_answers(target, each.person.session["account"], each.QUESTION)
        note(final="kept", object=each.name, revisions=kept)


def read_end(target, crowd, note):
    """Reads what is left of everything that was written."""
    caller = chaos_people.Caller(target.port)
    for each in crowd.profiles + crowd.answers + crowd.told:
        chaos_end.wait(lambda: each.read(caller).result == "acknowledged")
    for person in crowd.people:
        chaos_end.wait(lambda: person.renew().result != "unknown")
    for each in crowd.profiles:
        [[revision, bio]] = chaos_end.profile(target, each.person.session["account"])
        note(final="object", object=each.name, revision=int(revision), value=bio)
    for each in crowd.submissions:
        kept = chaos_end.kept_answers(target, each.person.session["account"], each.QUESTION)
        newest = max(kept, default=0)
        note(final="object", object=each.name, revision=newest, value=kept.get(newest))
    read_kept(target, crowd, note)
    for each in crowd.told:
        account = each.person.session["account"]
        answer = each.read(caller).body["answers"]
        [[_, bio]] = chaos_end.profile(target, account)
        told = next((one["value"] for one in answer), None)
        note(final="effect", about=f"the profile of {each.person.name}", told=told, found=bio or None)
    sessions, events = chaos_end.sessions(target), chaos_end.events(target)
    for person in crowd.people + crowd.newcomers.people:
        if person.session:
            account = person.session["account"]
            note(final="sessions", person=person.name, sessions=sessions.get(account, []))
            for each in events.get(account, []):
                note(final="events", **each)
    for each in chaos_end.left(target):
        note(final="left", **each)
