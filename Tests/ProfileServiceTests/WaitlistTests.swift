import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

@testable import ProfileService

@Suite("the waitlist") struct WaitlistTests {

    private static func next(_ day: CivilDate, by days: Int) -> CivilDate {
        CivilDate(daysSinceEpoch: day.daysSinceEpoch + days)
    }

    @Loop private static func list(_ profile: ProfileStage, replica: Int = 0) -> WaitlistStore {
        let house = profile.stage.houses[replica]
        return WaitlistStore(
            profiles: ProfileStore(database: house.database, sealer: profile.sealer), outbox: house.outbox)
    }

    @Test func whoWaitsIsToldOnceOnTheBirthdayAndNotBefore() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let ears = Ears<NotifyPerson>()
            try profile.stage.answering(as: .auth, ears)
            let year = Timestamp.now().date.year
            try await profile.update(["dateOfBirth": .string("\(year - 17)-02-28")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            #expect(place == (try await profile.ask(JoinWaitlist(notify: true))))
            #expect(place.eligibleOn == CivilDate("\(year + 1)-02-28"))
            #expect(try await profile.ask(ViewOnboarding()).eligibleOn == place.eligibleOn)

            let stores = [Self.list(profile, replica: 0), Self.list(profile, replica: 1)]
            let waiting = "SELECT count(*) FROM waitlist"
            try await stores[0].tellWhoIsEligible(on: Self.next(place.eligibleOn, by: -1))
            #expect(try await profile.stage.rows(waiting) == "1")
            _ = try await atOnce(8) { [birthday = place.eligibleOn] in
                try await stores[0].tellWhoIsEligible(on: birthday)
                try await stores[1].tellWhoIsEligible(on: birthday)
            }
            try await stores[1].tellWhoIsEligible(on: Self.next(place.eligibleOn, by: 1))
            let heard = try await ears.atLeast(1)
            #expect(heard.map(\.personID) == [profile.person] && heard.map(\.kind) == ["now_eligible"])
            #expect(heard[0].data.isEmpty, "no date goes with it")
            #expect(try await profile.stage.rows(waiting) == "0")
            #expect(try await profile.stage.rows("SELECT last FROM outbox_sequences") == "1", "told once")
        }
    }

    @Test func aReplicaThatWasAwayOnTheBirthdayTellsLater() async throws {
        try await ProfileStage.run { profile in
            let ears = Ears<NotifyPerson>()
            try profile.stage.answering(as: .auth, ears)
            try await profile.update(["dateOfBirth": .string("\(Timestamp.now().date.year - 17)-12-31")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            try await Self.list(profile).tellWhoIsEligible(on: Self.next(place.eligibleOn, by: 40))
            #expect(try await ears.atLeast(1).count == 1)
        }
    }

    @Test func whoTakesItBackIsNotTold() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["dateOfBirth": .string("\(Timestamp.now().date.year - 17)-12-31")])
            let place = try await profile.ask(JoinWaitlist(notify: true))
            #expect(try await profile.ask(JoinWaitlist(notify: false)) == place)
            try await Self.list(profile).tellWhoIsEligible(on: place.eligibleOn)
            #expect(try await profile.stage.rows("SELECT count(*) FROM outbox_sequences") == "0")
        }
    }

    @Test func onlyWhoIsTooYoungWaits() async throws {
        try await ProfileStage.run { profile in
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true)).code == "date_of_birth_missing")
            try await profile.update(["dateOfBirth": "1994-02-28"])
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true)).code == "already_eligible")
            #expect(try await profile.refusal(of: JoinWaitlist(notify: true), signedIn: false).code == "unauthorized")
            #expect(try await profile.stage.rows("SELECT count(*) FROM waitlist") == "0")
        }
    }

    /// Neither the date of birth nor the birthday that it follows from: not in a table, not sealed in an outbox that a date
    /// could be read from, not in the log.
    @Test func noDateOfBirthFollowsFromWhatIsWrittenDown() async throws {
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
