import BusProtocol
import Database
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

@Suite("the waitlist") struct WaitlistTests {

    /// The first minutes of a day in UTC, so many days later.
    private static func morning(_ day: CivilDate, after days: Int = 0) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: (Int64(day.daysSinceEpoch + days) * 86_400 + 600) * 1_000_000)
    }

    @Loop private static func list(_ profile: ProfileStage, replica: Int = 0) throws -> WaitlistNotifier {
        let container = profile.stage.containers[replica]
        return WaitlistNotifier(
            profiles: try profile.store(of: container), plans: try profile.plans(of: container),
            outbox: container.outbox, log: container.log)
    }

    @Test func aWaitingMinorIsNotifiedOnceOnTheBirthday() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let recorder = EventRecorder<NotifyPerson>()
            try profile.stage.answering(as: .auth, recorder)
            let year = Timestamp.now().date.year
            try await profile.update(["dateOfBirth": .string("\(year - 17)-02-28")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            #expect(place == (try await profile.ask(JoinWaitlist(notify: true))))
            #expect(place.eligibleOn == CivilDate("\(year + 1)-02-28"))
            #expect(try await profile.ask(ViewOnboarding()).eligibleOn == place.eligibleOn)

            let stores = [try Self.list(profile, replica: 0), try Self.list(profile, replica: 1)]
            let waiting = "SELECT count(*) FROM waitlist"
            try await patiently { try await stores[0].tellWhoIsEligible(at: Self.morning(place.eligibleOn, after: -1)) }
            #expect(try await profile.stage.rows(waiting) == "1")
            _ = try await atOnce(8) { [birthday = place.eligibleOn] in
                for store in stores {
                    try await patiently { try await store.tellWhoIsEligible(at: Self.morning(birthday)) }
                }
            }
            try await patiently { try await stores[1].tellWhoIsEligible(at: Self.morning(place.eligibleOn, after: 1)) }
            let heard = try await recorder.atLeast(1)
            #expect(heard.map(\.personID) == [profile.person] && heard.map(\.kind) == ["now_eligible"])
            #expect(heard[0].data.isEmpty, "no date goes with it")
            #expect(try await profile.stage.rows(waiting) == "0")
            #expect(try await profile.stage.rows("SELECT last FROM outbox_sequences") == "1", "told once")
        }
    }

    /// The push comes on the day in the time zone of the person, even if the date in UTC is another one.
    @Test(
        "the push comes on the birthday where the person is",
        arguments: [
            "Pacific/Kiritimati", "Asia/Kolkata", "Europe/Stockholm", "UTC", "America/New_York", "Pacific/Pago_Pago",
        ])
    func theBirthdayIsThePersonsOwn(zone name: String) async throws {
        try await ProfileStage.run { profile in
            let recorder = EventRecorder<NotifyPerson>()
            try profile.stage.answering(as: .auth, recorder)
            let born = JSONValue.string("\(Timestamp.now().date.year - 17)-06-15")
            try await profile.update(["dateOfBirth": born, "timeZone": .string(name)])
            let birthday = try await profile.ask(JoinWaitlist(notify: true)).eligibleOn
            let zone = try #require(PersonTimeZone(name))
            var told: [CivilDate] = []
            for day in -2...2 {
                let now = Self.morning(birthday, after: day)
                try await patiently { try await Self.list(profile).tellWhoIsEligible(at: now) }
                if try await profile.stage.rows("SELECT count(*) FROM waitlist") == "0", told.isEmpty {
                    told.append(zone.date(at: now))
                }
            }
            #expect(told == [birthday])
            #expect(try await recorder.atLeast(1).count == 1)
        }
    }

    @Test func aBirthdayMissedDuringAnOutageIsNotifiedLater() async throws {
        try await ProfileStage.run { profile in
            let recorder = EventRecorder<NotifyPerson>()
            try profile.stage.answering(as: .auth, recorder)
            try await profile.update(["dateOfBirth": .string("\(Timestamp.now().date.year - 17)-12-31")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            try await patiently {
                try await Self.list(profile).tellWhoIsEligible(at: Self.morning(place.eligibleOn, after: 40))
            }
            #expect(try await recorder.atLeast(1).count == 1)
        }
    }

    @Test func aPersonWhoLeavesTheWaitlistIsNotNotified() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["dateOfBirth": .string("\(Timestamp.now().date.year - 17)-12-31")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            #expect(try await profile.ask(JoinWaitlist(notify: false)) == place)
            try await patiently { try await Self.list(profile).tellWhoIsEligible(at: Self.morning(place.eligibleOn)) }
            #expect(try await profile.stage.rows("SELECT count(*) FROM outbox_sequences") == "0")
        }
    }

    @Test func onlyMinorsJoinTheWaitlist() async throws {
        try await ProfileStage.run { profile in
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true)).code == "date_of_birth_missing")
            try await profile.update(["dateOfBirth": "1994-02-28"])
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true)).code == "already_eligible")
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true), signedIn: false).code == "unauthorized")
            #expect(try await profile.stage.rows("SELECT count(*) FROM waitlist") == "0")
        }
    }

    /// Neither the date of birth nor a date from which it follows is readable in a table, in the outbox or in the log.
    @Test func noTableOrLogRevealsADateOfBirth() async throws {
        try await ProfileStage.run { profile in
            let born = CivilDate("\(Timestamp.now().date.year - 17)-12-30")!
            try await profile.update(["dateOfBirth": .string(born.description)])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            let dump = try await profile.stage.rows(
                """
                SELECT p::text FROM profiles p UNION ALL SELECT h::text FROM profile_field_history h
                UNION ALL SELECT w::text FROM waitlist w UNION ALL SELECT d::text FROM waitlist_days d
                UNION ALL SELECT i::text FROM inbox i UNION ALL SELECT o::text FROM outbox o
                """)
            for date in [born.description, place.eligibleOn.description] {
                #expect(!dump.contains(date) && !profile.stage.log.text.contains(date))
            }
            #expect(dump.contains(profile.person.description))
            let columns = try await profile.stage.rows(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'waitlist'")
            #expect(columns == "person_id")
        }
    }
}
